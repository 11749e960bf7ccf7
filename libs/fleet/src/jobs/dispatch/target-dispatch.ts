/**
 * Claims targets with their intent committed, hands their calls to gateways, and gives each end to
 * the outcome buffer. What was not handed over is put back as certainly not sent. The machine in
 * libs/jobs decides when to claim.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallRights } from '@flotilla/bus';
import { isFailure, isStuck, judgeAttempt, judgeReadback, markSentAfterMs, maySend } from '@flotilla/jobs';
import type { AttemptEnd, Job, Readback } from '@flotilla/jobs';
import { hubCall } from '@flotilla/mcp';
import type { CallError, DeviceId } from '@flotilla/mcp';
import type { ClaimedTarget } from '@flotilla/registry';
import type { SettledCall } from '@flotilla/session';
import { verifiesRestart } from '../../calls/observe-calls.js';
import { readValue } from '../../calls/read-value.js';
import { ImageSends } from '../../rollout/image-sends.js';
import type { ImageSend } from '../../rollout/image-sends.js';
import type { RunContext } from '../engine/run-context.js';
import { restartStuckDevice } from '../verification/restart-stuck-device.js';
import { InFlightCalls } from './in-flight-calls.js';
import type { InFlightCall } from './in-flight-calls.js';
import { OutcomeBuffer } from './outcome-buffer.js';
import type { SlotPool } from './slot-pool.js';
import type { EligibilityCheck } from '../eligibility-check.js';

/** Targets marked SENT in one statement. */
const markSentRowsMax = 500;
/** Calls handed over before other work of this process has a turn: less than a millisecond. */
const sendsPerTurn = 25;

interface Batch {
  readonly targets: readonly ClaimedTarget[];
  readonly images: ImageSends | undefined;
}

export class TargetDispatch {
  readonly #buffer: OutcomeBuffer;
  readonly #inFlight = new InFlightCalls();
  /**
   * Devices whose value was read and differs, but too late for this claim. Each with the epoch of
   * that session: in a newer one the value is read again.
   */
  readonly #readLate = new Map<DeviceId, number>();
  /** The batch that was claimed last, until it is sent. */
  #claimed: Batch | undefined;
  /** Ends when the latest batch was handed over. */
  #sending = Promise.resolve();

  /** `slots` are those of all jobs. */
  constructor(
    private readonly context: RunContext,
    private readonly eligibility: EligibilityCheck,
    private readonly slots: SlotPool,
  ) {
    this.#buffer = new OutcomeBuffer(context);
  }

  get #job(): Job {
    return this.context.state().job;
  }

  /** Resolves to the number of claimed targets; undefined where no slot or no download is free. */
  async claim(limit: number): Promise<number | undefined> {
    const job = this.#job;
    const { signal, deps } = this.context;
    const images = job.firmwareImageId === undefined ? undefined : new ImageSends(this.context, deps.rollout);
    const wanted = images === undefined ? limit : Math.min(limit, await images.room());
    // Nothing gives back what a run takes after its end.
    if (this.context.isClosed) return undefined;
    const granted = this.slots.take(job, wanted, () => signal({ kind: 'slotsGranted' }));
    if (granted === 0) return undefined;
    let claimed = 0;
    try {
      const targets = await this.#claimTargets(job, granted);
      // The next owner of the job classifies them.
      if (this.context.isClosed) return undefined;
      claimed = targets.length;
      if (claimed > 0) this.#claimed = { targets, images };
      return claimed;
    } finally {
      this.slots.give(granted - claimed);
    }
  }

  async #claimTargets(job: Job, limit: number): Promise<readonly ClaimedTarget[]> {
    const { deps, fence, persist, state, statements } = this.context;
    const targets = await persist('claim targets', () =>
      // A job that was stopped while its statement waited claims nothing any more.
      statements.run(async () =>
        maySend(state()) ? deps.registry.targetQueue.claim(fence, limit, deps.clock.now(), job.disruptive) : [],
      ),
    );
    const unknown = targets.flatMap(({ toolSetHash }) =>
      toolSetHash === undefined || this.eligibility.isJudged(toolSetHash) ? [] : [toolSetHash],
    );
    if (unknown.length > 0) await persist('read tool sets', () => this.eligibility.judge([...new Set(unknown)]));
    return targets;
  }

  /** Hands the claimed batch over, after the batch before it. */
  send(): void {
    const batch = this.#claimed;
    this.#claimed = undefined;
    if (batch === undefined) return;
    this.#sending = this.#sendAfter(this.#sending, batch).catch((error: unknown) => {
      const { deps, isClosed, jobId } = this.context;
      // What was not handed over is in flight in PostgreSQL, where the next count finds it.
      if (!isClosed) deps.logger.warn({ err: error, jobId }, 'could not send a batch of targets');
    });
  }

  async #sendAfter(before: Promise<void>, { targets, images }: Batch): Promise<void> {
    let unsent = targets.length;
    try {
      await before;
      const sends = await images?.prepare(
        targets.filter(({ toolSetHash }) => !this.eligibility.rejectionOf(toolSetHash)),
      );
      for (const target of targets) {
        unsent -= 1;
        this.#handOver(target, sends?.get(target.deviceId));
        if (unsent > 0 && unsent % sendsPerTurn === 0) await nextTurn();
      }
    } finally {
      this.slots.give(unsent);
      this.context.signal({ kind: 'batchSent', unsent });
    }
  }

  flush(): void {
    this.#buffer.flush();
  }

  /** The job wants no slots at present: those that were set aside for it go to other jobs. */
  withdraw(): void {
    this.slots.withdraw(this.context.jobId);
  }

  /** Gives all slots back once the run has ended. */
  close(): void {
    this.forgetCalls();
    this.slots.give(this.#claimed?.targets.length ?? 0);
    this.#claimed = undefined;
    this.withdraw();
  }

  /** Marks the calls that are in flight for longer than a flush takes. */
  async markSent(): Promise<void> {
    const { deps, fence, persist } = this.context;
    const unmarked = this.#inFlight.unmarked(deps.clock.now() - markSentAfterMs, markSentRowsMax);
    if (unmarked.length === 0) return;
    const deviceIds = unmarked.map(({ target }) => target.deviceId);
    await persist('mark targets as sent', () => deps.registry.targetQueue.markSent(fence, deviceIds));
    for (const entry of unmarked) entry.isMarked = true;
  }

  /** The targets of all calls in flight are about to be decided: their answers are late. */
  forgetCalls(): void {
    this.slots.give(this.#inFlight.size);
    this.#inFlight.clear();
  }

  #handOver(target: ClaimedTarget, image: ImageSend | undefined): void {
    const { deps, isClosed, state } = this.context;
    const now = deps.clock.now();
    // The last moment before the bytes: another process may own the job, as after a standstill of
    // this one, or the job may have been paused.
    if (isClosed) return this.slots.give(1);
    const wasReadLate = this.#readLate.get(target.deviceId) === target.epoch;
    this.#readLate.delete(target.deviceId);
    if (!maySend(state()) || now >= target.sendBy) return this.#putBack(target, { kind: 'ready' });
    // The device's tools may have changed since its target was prepared.
    const rejection = this.eligibility.rejectionOf(target.toolSetHash);
    if (rejection !== undefined) return this.#putBack(target, rejected(rejection));
    if (image?.kind === 'keep') return this.#putBack(target, image.to);
    const { readback, skipIfSatisfied, arguments: args } = this.#job;
    const entry = this.#inFlight.add(target, image?.arguments ?? args, now);
    if (skipIfSatisfied && readback !== undefined && !wasReadLate) this.#sendUnlessSatisfied(entry, readback);
    else this.#send(entry);
  }

  /** Reads the value before it is set. Any answer but the wanted value sends the call. */
  #sendUnlessSatisfied(entry: InFlightCall, readback: Readback): void {
    const { callTimeoutMs, mayCallUserOnly, arguments: args } = this.#job;
    readValue(this.context.deps, entry.target, { ...readback, callTimeoutMs, mayCallUserOnly }, ({ kind, result }) => {
      const { deps, isClosed, state } = this.context;
      if (isClosed || !this.#inFlight.has(entry)) return;
      const now = deps.clock.now();
      const isSatisfied =
        kind === 'SUCCEEDED' &&
        result !== undefined &&
        judgeReadback(result, readback, args).decision.outcome === 'SUCCEEDED';
      const isWanted = !isSatisfied && maySend(state());
      if (isWanted && now < entry.target.sendBy) return this.#send(entry);
      if (isWanted) this.#readLate.set(entry.target.deviceId, entry.target.epoch);
      this.#inFlight.remove(entry);
      this.#putBack(entry.target, isSatisfied ? unchanged : { kind: 'ready' });
    });
  }

  #send(entry: InFlightCall): void {
    const { deps } = this.context;
    const { target } = entry;
    const job = this.#job;
    const asked = {
      callId: target.callId,
      tool: job.tool,
      arguments: entry.arguments,
      queueDeadlineAt: Math.min(job.expiresAt, deps.clock.now() + job.callTimeoutMs),
      callTimeoutMs: job.callTimeoutMs,
    };
    const call = hubCall(asked, { id: target.deviceId, name: target.deviceName });
    const routed = { deviceId: target.deviceId, epoch: target.epoch, rights: rightsOf(job, entry), call };
    const settle = (settled: SettledCall) => this.#settle(entry, settled);
    deps.bus.calls.deliver(target.gatewayId, routed, settle, verifiesRestart(job.verification));
  }

  #settle(entry: InFlightCall, settled: SettledCall): void {
    const { deps, isClosed, tuning, state } = this.context;
    const { target } = entry;
    if (isClosed || !this.#inFlight.has(entry)) return publishLate(deps.bus, target, settled);
    const { outcome, sentAt, settledAt } = settled;
    const attempt = { outcome, sentAt, settledAt, attempts: target.attempts, baselineVersion: target.baselineVersion };
    const { job, imageBytes } = state();
    const rules = { verification: deps.verification, imageBytes, chance: tuning.chance, now: deps.clock.now() };
    const { end, restMs } = judgeAttempt(job, attempt, rules);
    if (isStuck(end)) restartStuckDevice(this.context, target);
    this.#inFlight.remove(entry);
    this.#end(target, end, { at: settledAt, startedAt: sentAt, restMs });
  }

  /** Certainly not sent. */
  #putBack(target: ClaimedTarget, end: AttemptEnd): void {
    this.#end(target, end, { at: this.context.deps.clock.now(), startedAt: undefined, restMs: undefined });
  }

  /** Gives the slot back, and the end to the buffer. */
  #end({ deviceId, claim }: ClaimedTarget, to: AttemptEnd, { at, startedAt, restMs }: EndMoment): void {
    this.slots.give(1);
    this.context.signal({ kind: 'targetEnded', isFailure: isFailure(to), restMs });
    this.#buffer.add({ deviceId, claim, startedAt, at, to });
  }
}

interface EndMoment {
  readonly at: number;
  readonly startedAt: number | undefined;
  readonly restMs: number | undefined;
}

/** The right to change firmware was checked at creation. The hub makes the address of an image. */
function rightsOf(job: Job, { arguments: { url } }: InFlightCall): CallRights {
  const isRollout = job.firmwareImageId !== undefined;
  const ownUrl = isRollout && typeof url === 'string' ? url : undefined;
  return { mayCallUserOnly: job.mayCallUserOnly, mayChangeFirmware: true, ownUrl };
}

/** The target is decided without this answer, as by a forced cancel: the answer corrects it. */
function publishLate({ feed }: RunContext['deps']['bus'], { callId }: ClaimedTarget, { outcome }: SettledCall): void {
  if (outcome.kind === 'SUCCEEDED' || outcome.kind === 'FAILED') feed.publish('lateAnswer', { callId, outcome });
}

const unchanged: AttemptEnd = {
  kind: 'decided',
  outcome: 'NO_CHANGE',
  certainty: 'NEVER',
  error: undefined,
  result: undefined,
};

function rejected(error: CallError): AttemptEnd {
  return { kind: 'decided', outcome: 'REJECTED', certainty: 'NEVER', error, result: undefined };
}
