/** Reads values back from devices whose call was answered, as many at a time as the job has free slots, and gathers what they prove. */
import { judgeReadback } from '@flotilla/jobs';
import type { Job, Readback } from '@flotilla/jobs';
import type { CallOutcome } from '@flotilla/mcp';
import type { ReadbackTarget, VerificationEnd } from '@flotilla/registry';
import type { RunContext } from '../engine/run-context.js';
import { ToolSetVerdicts } from '../dispatch/tool-set-verdicts.js';
import { readValue } from './read-call.js';

export interface ReadSlots {
  /** Slots that nothing is using. */
  readonly freeSlots: (job: Job) => number;
  /** Takes a slot, or gives it back. */
  readonly lend: (count: 1 | -1) => void;
}

/** Ends wait so long for others, ms. */
const gatherMs = 100;
/** Reads that one statement takes. */
const claimMax = 500;

export class Readbacks {
  readonly #run: RunContext;
  readonly #readback: Readback;
  readonly #slots: ReadSlots;
  readonly #verdicts: ToolSetVerdicts;
  readonly #onEnded: () => void;
  #ends: VerificationEnd[] = [];
  #cancelTimer: (() => void) | undefined;

  /** `onEnded` runs when there are ends to take. */
  constructor(
    run: RunContext,
    readback: Readback,
    slots: ReadSlots,
    job: Pick<Job, 'mayCallUserOnly'>,
    onEnded: () => void,
  ) {
    const { registry, gate } = run.deps;
    this.#run = run;
    this.#readback = readback;
    this.#slots = slots;
    this.#onEnded = onEnded;
    this.#verdicts = new ToolSetVerdicts(registry.toolSets, gate, {
      tool: readback.tool,
      arguments: {},
      mayCallUserOnly: job.mayCallUserOnly,
    });
  }

  /** Begins all reads that are due and fit; resolves to whether more may be due. */
  async begin(job: Job): Promise<boolean> {
    const { deps, fence } = this.#run;
    const limit = Math.min(this.#slots.freeSlots(job), claimMax);
    if (limit <= 0) return true;
    const at = deps.clock.now();
    // One whose device does not answer is tried again when its call is certainly over.
    const due = { at, againAt: at + 2 * job.callTimeoutMs };
    const targets = await this.#run.persist('claim read-backs', () =>
      deps.registry.jobs.claimReadbacks(fence, limit, due),
    );
    const hashes = new Set(targets.flatMap(({ toolSetHash }) => toolSetHash ?? []));
    await this.#run.persist('read tool sets', () => this.#verdicts.judge([...hashes]));
    for (const target of targets) this.#read(target, job);
    return targets.length === limit;
  }

  /** The ends since the last time. */
  take(): readonly VerificationEnd[] {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    return this.#ends.splice(0);
  }

  #read(target: ReadbackTarget, job: Job): void {
    const { toolSetHash } = target;
    const rejection =
      toolSetHash === undefined ? this.#verdicts.withoutTools : this.#verdicts.known(toolSetHash)?.rejection;
    if (rejection !== undefined) return this.#end(target, cannotRead(rejection.message));
    this.#slots.lend(1);
    readValue(
      this.#run,
      target,
      { ...this.#readback, callTimeoutMs: job.callTimeoutMs, mayCallUserOnly: job.mayCallUserOnly },
      (outcome) => {
        this.#slots.lend(-1);
        if (!this.#run.isEnded) this.#judge(target, outcome, job);
      },
    );
  }

  #judge(target: ReadbackTarget, outcome: CallOutcome, job: Job): void {
    if (outcome.kind === 'SUCCEEDED' && outcome.result !== undefined) {
      return this.#end(target, judgeReadback(outcome.result, this.#readback, job.arguments).decision);
    }
    // An error of the read tool will come again; anything else is tried again until the deadline.
    if (outcome.kind === 'FAILED') this.#end(target, cannotRead(outcome.error?.message ?? 'it failed'));
  }

  #end(
    { deviceId, attempt }: ReadbackTarget,
    decision: Omit<Extract<VerificationEnd['to'], { kind: 'decided' }>, 'kind'>,
  ): void {
    this.#ends.push({ deviceId, attempt, to: { kind: 'decided', ...decision } });
    this.#cancelTimer ??= this.#run.deps.clock.setTimer(gatherMs, this.#onEnded);
  }
}

function cannotRead(why: string) {
  return {
    outcome: 'UNKNOWN',
    error: { code: 'NOT_VERIFIED', message: `The value could not be read back: ${why}` },
  } as const;
}
