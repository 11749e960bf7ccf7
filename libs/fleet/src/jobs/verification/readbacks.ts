/** Reads values back from devices whose call was answered, and gathers what the values prove. */
import { judgeReadback } from '@flotilla/jobs';
import type { Job, Readback, VerificationEnd } from '@flotilla/jobs';
import type { CallOutcome } from '@flotilla/mcp';
import type { ReadbackTarget } from '@flotilla/registry';
import { readValue } from '../../calls/read-value.js';
import type { SlotPool } from '../dispatch/slot-pool.js';
import { EligibilityCheck } from '../eligibility-check.js';
import type { RunContext } from '../engine/run-context.js';

/** An end waits so long for others, ms. */
const gatherMs = 100;

type ReadingJob = Pick<Job, 'arguments' | 'callTimeoutMs' | 'mayCallUserOnly' | 'tool'>;

export class Readbacks {
  readonly #eligibility: EligibilityCheck;
  /** Readers of a job may not call user-only tools, so none gets their values. */
  #hidesValues = true;
  #ends: VerificationEnd[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(
    private readonly context: RunContext,
    private readonly job: ReadingJob,
    private readonly readback: Readback,
    private readonly slots: SlotPool,
  ) {
    const { registry, callRules } = context.deps;
    const { mayCallUserOnly } = job;
    this.#eligibility = new EligibilityCheck(registry.toolSets, callRules, {
      tool: readback.tool,
      arguments: {},
      mayCallUserOnly,
    });
  }

  /** Begins at most `limit` reads that are due; resolves to whether more may be due. */
  async begin(limit: number): Promise<boolean> {
    const { deps, fence, persist } = this.context;
    const at = deps.clock.now();
    // A read that no device answers is due again when its call is certainly over.
    const due = { at, againAt: at + 2 * this.job.callTimeoutMs };
    const targets = await persist('claim read-backs', () =>
      deps.registry.targetVerification.claimReadbacks(fence, limit, due),
    );
    const hashes = new Set(targets.flatMap(({ toolSetHash }) => toolSetHash ?? []));
    await persist('read tool sets', () => this.#eligibility.judge([...hashes]));
    if (targets.length > 0) await this.#findUserOnly();
    for (const target of targets) this.#read(target);
    return targets.length === limit;
  }

  /** The ends since the last time. */
  take(): readonly VerificationEnd[] {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    return this.#ends.splice(0);
  }

  async #findUserOnly(): Promise<void> {
    const { deps, persist } = this.context;
    const tools = [this.job.tool, this.readback.tool];
    const userOnly = await persist('read user-only tools', () => deps.registry.toolSets.userOnlyAmong(tools));
    this.#hidesValues = userOnly.size > 0;
  }

  #read(target: ReadbackTarget): void {
    const rejection = this.#eligibility.rejectionOf(target.toolSetHash);
    if (rejection !== undefined) return this.#end(target, cannotRead(rejection.message));
    // The call of the target has just given its slot back, so the read does not wait for a turn.
    this.slots.takeOutOfTurn();
    this.context.signal({ kind: 'readBegan' });
    const { callTimeoutMs, mayCallUserOnly } = this.job;
    readValue(this.context.deps, target, { ...this.readback, callTimeoutMs, mayCallUserOnly }, (outcome) => {
      this.slots.give(1);
      this.context.signal({ kind: 'readEnded' });
      if (!this.context.isClosed) this.#judge(target, outcome);
    });
  }

  #judge(target: ReadbackTarget, { kind, result, error }: CallOutcome): void {
    if (kind === 'SUCCEEDED' && result !== undefined) {
      const hidesValues = this.#hidesValues;
      return this.#end(target, judgeReadback(result, this.readback, this.job.arguments, { hidesValues }).decision);
    }
    // An error of the read tool will come again; any other end is read again until the deadline.
    if (kind === 'FAILED') this.#end(target, cannotRead(error?.message ?? 'the read failed'));
  }

  #end(
    { deviceId, claim }: ReadbackTarget,
    decision: Omit<Extract<VerificationEnd['to'], { kind: 'decided' }>, 'kind'>,
  ): void {
    const { clock } = this.context.deps;
    this.#ends.push({ deviceId, claim, to: { kind: 'decided', ...decision } });
    this.#cancelTimer ??= clock.setTimer(gatherMs, () => this.context.signal({ kind: 'readEndsWait' }));
  }
}

function cannotRead(why: string) {
  const message = `The value could not be read back: ${why}`;
  return { outcome: 'UNKNOWN', error: { code: 'NOT_VERIFIED', message } } as const;
}
