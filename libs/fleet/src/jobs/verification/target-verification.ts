/**
 * The verifying half of a running job: looks at all its targets in VERIFYING at once, has libs/jobs judge them, and writes what is certain. Everything it
 * knows is in PostgreSQL, so that another process goes on where this one died.
 */
import { judgeVerification, retryOfUpgrade, verificationDeadlines, verifyAfterLateAnswer } from '@flotilla/jobs';
import type { Job, VerificationDeadlines, VerificationVerdict } from '@flotilla/jobs';
import type { CallId, CallOutcomeKind, DeviceId } from '@flotilla/mcp';
import type { VerificationEnd, VerifyingTarget } from '@flotilla/registry';
import type { RunContext } from '../engine/run-context.js';
import { Readbacks } from './readbacks.js';
import type { ReadSlots } from './readbacks.js';
import { isStuck, restartStuckDevice, withRestartNote } from './restart-stuck-device.js';

/** Between looks, ms, where nobody has come back meanwhile. */
const lookEveryMs = 1_000;
/** Late answers that wait to be judged: each costs a statement, and for one that is dropped the soft deadline says the same. */
const lateAnswersMax = 1_000;
/** A look at very many targets may take this share of the time. */
const lookShare = 0.05;

export interface VerificationHooks extends ReadSlots {
  /** There is something to look at: `look` should run soon. */
  readonly onNews: () => void;
  /** Targets were decided; `isSomeReady` where some are to be sent again. */
  readonly onSettled: (isSomeReady: boolean) => void;
}

export class TargetVerification {
  readonly #run: RunContext;
  readonly #hooks: VerificationHooks;
  readonly #readbacks: Readbacks | undefined;
  /** Whether any target could be in VERIFYING. */
  #isAnyExpected: boolean;
  #lookAt = -Infinity;
  #lateAnswers: { readonly callId: CallId; readonly kind: CallOutcomeKind }[] = [];

  constructor(run: RunContext, job: Job, hooks: VerificationHooks) {
    this.#run = run;
    this.#hooks = hooks;
    const { verification, readback } = job;
    this.#isAnyExpected = verification !== 'NONE';
    this.#readbacks =
      verification === 'READBACK' && readback !== undefined
        ? new Readbacks(run, readback, hooks, job, () => hooks.onNews())
        : undefined;
  }

  /** What targets get that a former owner left in flight. */
  deadlinesOf({ verification }: Pick<Job, 'verification'>): VerificationDeadlines {
    return verificationDeadlines(verification, this.#run.deps.verification, this.#run.imageBytes);
  }

  /** After a takeover: nobody has seen the devices for a while. */
  async takeOver(): Promise<void> {
    if (!this.#isAnyExpected) return;
    const { deps, fence } = this.#run;
    const until = deps.clock.now() + deps.verification.rejoinMs;
    await this.#run.persist('extend verifications', () => deps.registry.jobs.extendVerifying(fence, until));
  }

  /** Targets went into VERIFYING. The value of the first is due to be read in `readbackDelayMs`. */
  expect(): void {
    this.#isAnyExpected = true;
    if (this.#readbacks === undefined) return;
    const { clock, verification } = this.#run.deps;
    clock.setTimer(verification.readbackDelayMs, () => this.#lookNow());
  }

  /** Devices came back: the next look is now. */
  devicesReturned(): void {
    if (this.#isAnyExpected) this.#lookNow();
  }

  /** The answer of a call that was given up. Where it is lost, the soft deadline says the same later. */
  answeredLate(callId: CallId, kind: CallOutcomeKind): void {
    if (this.#lateAnswers.length >= lateAnswersMax) return;
    this.#lateAnswers.push({ callId, kind });
    this.#lookNow();
  }

  /** Looks, when it is time, and writes what can be decided. */
  async look(job: Job): Promise<void> {
    if (job.verification === 'NONE') return;
    for (const late of this.#lateAnswers.splice(0)) await this.#judgeLate(job, late);
    const read = this.#readbacks?.take() ?? [];
    if (read.length > 0) await this.#settle(read);
    const { clock } = this.#run.deps;
    if (!this.#isAnyExpected || clock.now() < this.#lookAt) return;
    const from = clock.now();
    await this.#lookAtAll(job);
    const isMoreDue = (await this.#readbacks?.begin(job)) === true;
    const now = clock.now();
    this.#lookAt = isMoreDue ? now : now + Math.max(lookEveryMs, (now - from) / lookShare);
  }

  #lookNow(): void {
    if (this.#run.isEnded) return;
    this.#lookAt = -Infinity;
    this.#hooks.onNews();
  }

  async #lookAtAll(job: Job): Promise<void> {
    const { deps, fence } = this.#run;
    const now = deps.clock.now();
    const { verifyingCount, targets } = await this.#run.persist('look at devices', () =>
      deps.registry.jobs.verifying(fence, now),
    );
    const judged = targets.map((target) => ({
      target,
      verdict: judgeVerification(job.verification, target, deps.verification, now),
    }));
    const settled = await this.#settleJudged(job, judged);
    this.#isAnyExpected = verifyingCount > settled;
  }

  async #judgeLate(
    job: Job,
    { callId, kind }: { readonly callId: CallId; readonly kind: CallOutcomeKind },
  ): Promise<void> {
    const { deps, fence } = this.#run;
    const now = deps.clock.now();
    const { targets } = await this.#run.persist('look at devices', () =>
      deps.registry.jobs.verifying(fence, now, callId),
    );
    const target = targets.find((each) => each.callId === callId);
    if (target === undefined) return;
    const ended = {
      outcome: { kind, certainty: 'YES' },
      durationMs: job.callTimeoutMs,
      baselineVersion: target.baselineVersion,
    } as const;
    await this.#settleJudged(job, [{ target, verdict: verifyAfterLateAnswer(job, ended) }]);
  }

  /** Resolves to how many targets were moved. */
  async #settleJudged(
    job: Job,
    judged: readonly { readonly target: VerifyingTarget; readonly verdict: VerificationVerdict }[],
  ): Promise<number> {
    const ends = judged.flatMap(({ target, verdict }) => endOf(job, target, verdict));
    const moved = await this.#settle(ends);
    const stuck = new Set(ends.filter(({ to }) => isStuck(to)).map(({ deviceId }) => deviceId));
    for (const { target } of judged) {
      const { deviceId, sentEpoch, gatewayId } = target;
      if (!stuck.has(deviceId) || !moved.has(deviceId) || gatewayId === undefined) continue;
      restartStuckDevice(this.#run, { deviceId, epoch: sentEpoch, gatewayId });
    }
    return moved.size;
  }

  async #settle(ends: readonly VerificationEnd[]): Promise<ReadonlySet<DeviceId>> {
    if (ends.length === 0) return new Set();
    const { deps, fence } = this.#run;
    const at = deps.clock.now();
    const moved = await this.#run.persist('write verifications', () =>
      deps.registry.jobs.settleVerifications(fence, ends, at),
    );
    if (moved.length > 0) this.#hooks.onSettled(ends.some(({ to }) => to.kind === 'again'));
    const isMoved = new Set(moved);
    this.#run.tellDecided(
      ends.flatMap(({ deviceId, to }) => (to.kind === 'decided' && isMoved.has(deviceId) ? deviceId : [])),
    );
    return isMoved;
  }
}

function endOf(job: Job, target: VerifyingTarget, verdict: VerificationVerdict): VerificationEnd[] {
  if (verdict.kind === 'pending') return [];
  const { deviceId, attempt, attempts } = target;
  const { error } = verdict.decision;
  const retry = retryOfUpgrade(target, verdict, { made: attempts, max: job.maxAttempts, jobState: job.state });
  if (error !== undefined && retry !== undefined) return [{ deviceId, attempt, to: { kind: 'again', retry, error } }];
  return [{ deviceId, attempt, to: withRestartNote({ kind: 'decided', ...verdict.decision }) }];
}
