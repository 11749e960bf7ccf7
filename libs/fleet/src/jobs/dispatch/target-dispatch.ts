/**
 * The sending half of a running job: claims targets with their intent committed, hands them to their gateways, and gives each settled call's verdict
 * to the outcome buffer. A slot is free the moment its call settles; what is not handed over for whatever reason goes back as certainly not sent.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallRights } from '@flotilla/bus';
import { claimLimit, isClaimWorthwhile, judgeReadback, judgeTarget, retryDelayMs } from '@flotilla/jobs';
import type { Job, Readback, TargetVerdict } from '@flotilla/jobs';
import { hubCall } from '@flotilla/mcp';
import type { CallError } from '@flotilla/mcp';
import type { ClaimedTarget, TargetFlush } from '@flotilla/registry';
import type { SettledCall } from '@flotilla/session';
import { ImageSends } from '../../rollout/image-sends.js';
import type { ImageSend } from '../../rollout/image-sends.js';
import { InFlightCalls } from './in-flight-calls.js';
import type { InFlightCall } from './in-flight-calls.js';
import type { OutcomeBuffer } from './outcome-buffer.js';
import type { RunContext } from '../engine/run-context.js';
import type { SlotPool } from './slot-pool.js';
import type { ToolSetVerdicts } from './tool-set-verdicts.js';
import { afterCall } from '../verification/after-call.js';
import { readValue } from '../verification/read-call.js';
import { isStuck, restartStuckDevice, withRestartNote } from '../verification/restart-stuck-device.js';

/** Outcomes that may wait for PostgreSQL before nothing more is claimed: a second of work. */
const unflushedMax = 10_000;
/** An unanswered call this old is written as SENT, so that a reader sees who is being waited for. Most are answered by then, and cost no statement more. */
const markSentAfterMs = 1_000;
/** Targets marked SENT in one statement. */
const markSentRowsMax = 500;
/** Calls handed over before everybody else in this process has a turn, single calls above all: under a millisecond of work. */
const sendsPerTurn = 25;

export class TargetDispatch {
  readonly #run: RunContext;
  readonly #buffer: OutcomeBuffer;
  readonly #verdicts: ToolSetVerdicts;
  readonly #slots: SlotPool;
  readonly #onRoom: () => void;
  readonly #inFlight = new InFlightCalls();
  /** Slots of calls that somebody was too busy for: each rests as long as its target does, so that a busy gateway slows the job down. */
  #restingCount = 0;
  /** Slots that read-backs use. */
  #lentCount = 0;
  /** Claimed, and not handed over yet. */
  #unsentCount = 0;
  /** Ends when the latest batch was handed over. */
  #sending = Promise.resolve();
  #isOpen = false;
  #markedAt = -Infinity;

  /** `slots` are those of all jobs. `onRoom` runs when the first slot of a full job is free, when enough are to be worth a claim, and when all are. */
  constructor(run: RunContext, buffer: OutcomeBuffer, verdicts: ToolSetVerdicts, slots: SlotPool, onRoom: () => void) {
    this.#run = run;
    this.#buffer = buffer;
    this.#verdicts = verdicts;
    this.#slots = slots;
    this.#onRoom = onRoom;
  }

  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** Nothing is in flight or unwritten: memory agrees with PostgreSQL. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0 && this.#unsentCount === 0 && this.#buffer.depth === 0;
  }

  /** Targets that are claimed are still being handed over, or put back. */
  get isSending(): boolean {
    return this.#unsentCount > 0;
  }

  /** Allows sending. */
  open(): void {
    this.#isOpen = true;
  }

  /** Nothing is handed over from now on. Calls in flight go on. */
  shut(): void {
    this.#isOpen = false;
    this.rest();
  }

  /** Nothing is claimed for the time being: slots that other jobs wait for are theirs. */
  rest(): void {
    this.#slots.withdraw(this.#run.jobId);
  }

  /** Whether there is a free slot, and PostgreSQL keeps up with what comes back. */
  canClaim(job: Job): boolean {
    return this.#isOpen && this.#buffer.depth < unflushedMax && this.claimLimit(job) > 0;
  }

  /** Whether there are enough of them to be worth a commit. */
  isClaimWorthwhile(job: Job): boolean {
    return this.canClaim(job) && isClaimWorthwhile(job, this.#slotsTaken, this.#run.turns.rowsMax);
  }

  /** Targets that may be claimed at once as far as the job itself goes. */
  claimLimit(job: Job): number {
    return claimLimit(job, this.#slotsTaken, this.#run.turns.rowsMax);
  }

  /**
   * Claims at most `limit` and sends it; resolves to how many were claimed, to undefined where others have all slots or all downloads. Where a claim that was not sent
   * harms nobody, it resolves before all are sent, so that PostgreSQL makes the next claim meanwhile.
   */
  async claimAndSend(job: Job, limit: number): Promise<number | undefined> {
    const images = job.firmwareImageId === undefined ? undefined : new ImageSends(this.#run, this.#run.deps.rollout);
    const granted = this.#slots.take(job, images ? Math.min(limit, await images.room()) : limit, this.#onRoom);
    if (granted === 0) return undefined;
    let handed = 0;
    try {
      const targets = await this.#claim(job, granted);
      this.#unsentCount += targets.length;
      handed = targets.length;
      const before = this.#sending;
      this.#sending = this.#sendAfter(before, targets, job, images);
      if (images !== undefined || !mayClaimAhead(job)) await this.#sending;
      else {
        // Whatever it fails with, the next claim hears of it.
        this.#sending.catch(() => undefined);
        await before;
      }
      return targets.length;
    } finally {
      this.#slots.give(granted - handed);
    }
  }

  /** One batch after the other, each target with a slot that was taken for it. */
  async #sendAfter(
    before: Promise<void>,
    targets: readonly ClaimedTarget[],
    job: Job,
    images: ImageSends | undefined,
  ): Promise<void> {
    let unsent = targets.length;
    let unused = 0;
    try {
      await before;
      const sends =
        targets.length === 0
          ? undefined
          : await images?.prepare(targets.filter((target) => !this.#rejectionOf(target)));
      for (const target of targets) {
        if (!this.#handOver(target, job, sends?.get(target.deviceId))) unused += 1;
        unsent -= 1;
        this.#unsentCount -= 1;
        if (unsent > 0 && unsent % sendsPerTurn === 0) await nextTurn();
      }
    } finally {
      this.#unsentCount -= unsent;
      this.#slots.give(unused + unsent);
    }
  }

  async #claim(job: Job, limit: number): Promise<readonly ClaimedTarget[]> {
    const { deps, fence } = this.#run;
    const targets = await this.#run.persist('claim targets', () =>
      // A job that was stopped while it waited for its turn claims nothing any more.
      this.#run.turns.take(async () =>
        this.#isOpen ? deps.registry.jobs.claim(fence, limit, deps.clock.now(), job.disruptive) : [],
      ),
    );
    const unknownHashes = targets.flatMap(({ toolSetHash }) =>
      toolSetHash === undefined || this.#verdicts.known(toolSetHash) !== undefined ? [] : [toolSetHash],
    );
    if (unknownHashes.length > 0) {
      await this.#run.persist('read tool sets', () => this.#verdicts.judge([...new Set(unknownHashes)]));
    }
    return targets;
  }

  /** Marks what has been in flight for longer than a flush takes; does nothing when it has just done so. */
  async markSent(): Promise<void> {
    const { deps, fence } = this.#run;
    const before = deps.clock.now() - markSentAfterMs;
    if (this.#markedAt > before) return;
    this.#markedAt = deps.clock.now();
    const unmarked = this.#inFlight.unmarked(before, markSentRowsMax);
    if (unmarked.length === 0) return;
    const deviceIds = unmarked.map(({ target }) => target.deviceId);
    await this.#run.persist('mark targets as sent', () => deps.registry.jobs.markSent(fence, deviceIds));
    for (const entry of unmarked) entry.isMarked = true;
  }

  /** Slots for reads of values, which need none to be open: a paused job is verified to its end. */
  freeSlots(job: Job): number {
    return Math.max(0, job.maxInFlight - this.#slotsTaken);
  }

  /** Takes a slot for a read, or gives it back. */
  lend(count: 1 | -1): void {
    this.#lentCount += count;
    this.#slots.lend(count);
    if (count < 0 && !this.#run.isEnded) this.#onRoom();
  }

  /** Forgets all calls in flight: their targets were decided without them, and their answers are late. */
  forgetInFlight(): void {
    this.#slots.give(this.#inFlight.size);
    this.#inFlight.clear();
  }

  get #slotsTaken(): number {
    return this.#inFlight.size + this.#unsentCount + this.#restingCount + this.#lentCount;
  }

  /** False where nothing was sent: the target's end is on its way to its row, or the run is over. */
  #handOver(target: ClaimedTarget, job: Job, image?: ImageSend): boolean {
    const { deps } = this.#run;
    const now = deps.clock.now();
    // The last moment before the bytes. A run that lost its fence sends nothing; nor does one whose lease may have ended since the claim, as after a
    // standstill of the process; nor does a job that was paused meanwhile.
    if (this.#run.isEnded) return false;
    if (!this.#isOpen || now >= target.sendBy) return this.#putBack(target, { kind: 'ready' });
    const rejection = this.#rejectionOf(target);
    if (rejection !== undefined) return this.#putBack(target, rejected(rejection));
    if (image?.kind === 'keep') return this.#putBack(target, image.to);
    const entry = this.#inFlight.add(target, image?.arguments ?? job.arguments, now);
    if (job.skipIfSatisfied && job.readback !== undefined) this.#sendUnlessSatisfied(entry, job, job.readback);
    else this.#send(entry, job);
    return true;
  }

  /** Reads the value before it is set. Whatever does not say that it is there already, sends. */
  #sendUnlessSatisfied(entry: InFlightCall, job: Job, readback: Readback): void {
    const { deps } = this.#run;
    const { callTimeoutMs, mayCallUserOnly } = job;
    readValue(this.#run, entry.target, { ...readback, callTimeoutMs, mayCallUserOnly }, ({ kind, result }) => {
      if (this.#run.isEnded || !this.#inFlight.has(entry)) return;
      const now = deps.clock.now();
      const isSatisfied =
        kind === 'SUCCEEDED' &&
        result !== undefined &&
        judgeReadback(result, readback, job.arguments).decision.outcome === 'SUCCEEDED';
      if (!isSatisfied && this.#isOpen && now < entry.target.sendBy) return this.#send(entry, job);
      const to: TargetFlush['to'] = isSatisfied
        ? { kind: 'decided', outcome: 'NO_CHANGE', certainty: 'NEVER', error: undefined, result: undefined }
        : { kind: 'ready' };
      this.#leave(entry, job, { ...endOf(entry.target, now), to });
    });
  }

  #send(entry: InFlightCall, job: Job): void {
    const { deps } = this.#run;
    const { target } = entry;
    const now = deps.clock.now();
    const asked = {
      callId: target.callId,
      tool: job.tool,
      arguments: entry.arguments,
      queueDeadlineAt: Math.min(job.expiresAt, now + job.callTimeoutMs),
      callTimeoutMs: job.callTimeoutMs,
    };
    const call = hubCall(asked, { id: target.deviceId, name: target.deviceName });
    const routed = { deviceId: target.deviceId, epoch: target.epoch, rights: rightsOf(job, entry), call };
    deps.bus.calls.call(target.gatewayId, routed, (settled) => this.#settle(entry, settled, job));
  }

  #putBack(target: ClaimedTarget, to: TargetFlush['to']): false {
    this.#buffer.add({ ...endOf(target, this.#run.deps.clock.now()), to });
    return false;
  }

  /** A device's tools may have changed since its target was prepared. */
  #rejectionOf({ toolSetHash }: ClaimedTarget): CallError | undefined {
    return toolSetHash === undefined ? this.#verdicts.withoutTools : this.#verdicts.known(toolSetHash)?.rejection;
  }

  #settle(entry: InFlightCall, settled: SettledCall, job: Job): void {
    const { deps } = this.#run;
    const { target } = entry;
    if (this.#run.isEnded || !this.#inFlight.has(entry)) return tellLate(deps.bus, target, settled);
    const to =
      afterCall(settled, target, job, deps.verification, this.#run.imageBytes) ?? this.#judge(settled, target, job);
    if (isStuck(to)) restartStuckDevice(this.#run, target);
    this.#leave(entry, job, { ...endOf(target, settled.settledAt, settled.sentAt), to: withRestartNote(to) });
  }

  #judge({ outcome }: SettledCall, target: ClaimedTarget, job: Job): TargetFlush['to'] {
    const verdict = judgeTarget(outcome, job);
    switch (verdict.kind) {
      case 'decided':
        return this.#decidedOrRetried(verdict, target, job);
      case 'waiting':
        return { kind: 'waiting' };
      case 'ready':
        this.#rest(verdict.delayMs);
        return { kind: 'ready', notBefore: this.#run.deps.clock.now() + verdict.delayMs };
    }
  }

  /** Gives the slot back. */
  #leave(entry: InFlightCall, job: Job, flush: TargetFlush): void {
    const wasFull = this.#slotsTaken >= job.maxInFlight;
    this.#inFlight.remove(entry);
    this.#slots.give(1);
    this.#buffer.add(flush);
    if (wasFull || this.#inFlight.size === 0 || this.isClaimWorthwhile(job)) this.#onRoom();
  }

  #decidedOrRetried(
    { decision, result }: Extract<TargetVerdict, { kind: 'decided' }>,
    { sends }: ClaimedTarget,
    job: Job,
  ): TargetFlush['to'] {
    const { deps, tuning } = this.#run;
    const delayMs = retryDelayMs(decision, job, sends, tuning.chance());
    if (delayMs === undefined) return { kind: 'decided', ...decision, result };
    return {
      kind: 'retry',
      notBefore: deps.clock.now() + delayMs,
      certainty: decision.certainty,
      error: decision.error,
    };
  }

  #rest(delayMs: number): void {
    this.#restingCount += 1;
    this.#run.deps.clock.setTimer(delayMs, () => {
      this.#restingCount -= 1;
      if (!this.#run.isEnded) this.#onRoom();
    });
  }
}

/** Whether its owner may change firmware was checked when the job was made. The address of an image is the hub's. */
function rightsOf(job: Job, { arguments: { url } }: InFlightCall): CallRights {
  const isRollout = job.firmwareImageId !== undefined;
  const ownUrl = isRollout && typeof url === 'string' ? url : undefined;
  return { mayCallUserOnly: job.mayCallUserOnly, mayChangeFirmware: true, ownUrl };
}

/** Not where each claim is a risk, nor where a rule has to see what became of one batch before the next. [jobs §6] */
function mayClaimAhead({ idempotent, abortRules }: Job): boolean {
  return idempotent && abortRules.length === 0;
}

/** Nobody waits for the answer any more, as after a forced cancel: it corrects what was recorded without it. */
function tellLate({ feed }: RunContext['deps']['bus'], { callId }: ClaimedTarget, { outcome }: SettledCall): void {
  if (outcome.kind === 'SUCCEEDED' || outcome.kind === 'FAILED') feed.publish('lateAnswer', { callId, outcome });
}

function endOf({ deviceId, attempt }: ClaimedTarget, at: number, startedAt?: number): Omit<TargetFlush, 'to'> {
  return { deviceId, attempt, startedAt, at };
}

function rejected(error: CallError): TargetFlush['to'] {
  return { kind: 'decided', outcome: 'REJECTED', certainty: 'NEVER', error, result: undefined };
}
