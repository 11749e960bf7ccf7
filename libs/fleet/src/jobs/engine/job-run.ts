/**
 * One live job in the process that owns it, from take-over to its end. A loop that reads the job's row, does what its state asks for, and sleeps until
 * something changes. Its decisions are in libs/jobs; the row in PostgreSQL is the truth, and this may die anywhere.
 */
import { concludeJob } from '@flotilla/jobs';
import type { EarlyConclusion, Job, JobConclusion, JobProgress, JobState, TrippedRule } from '@flotilla/jobs';
import type { CallId, CallOutcomeKind, DeviceId } from '@flotilla/mcp';
import type { JobFence } from '@flotilla/registry';
import { FleetError } from '../../fleet-error.js';
import { isForcedCancel } from '../forced-cancel.js';
import { JobPace } from './job-pace.js';
import { JobRow } from './job-row.js';
import { JobSchedule } from './job-schedule.js';
import { JobSteps } from './job-steps.js';
import { OutcomeBuffer } from '../dispatch/outcome-buffer.js';
import type { Flushed } from '../dispatch/outcome-buffer.js';
import { prepareTargets } from './prepare-targets.js';
import { ProgressNews } from './progress-news.js';
import { RunContext } from './run-context.js';
import type { RunDeps } from './run-context.js';
import type { SlotPool } from '../dispatch/slot-pool.js';
import type { StatementTurns } from '../dispatch/statement-turns.js';
import { TargetDispatch } from '../dispatch/target-dispatch.js';
import { toolSetVerdicts } from '../dispatch/tool-set-verdicts.js';
import type { ToolSetVerdicts } from '../dispatch/tool-set-verdicts.js';
import { TargetVerification } from '../verification/target-verification.js';
import { WakeSignal } from './wake-signal.js';

/** Longest sleep of the loop, ms: how late a pause made in another process is noticed when the feed lost it. */
const lookAgainMs = 1_000;
/** How long a few free slots wait for more before they are claimed for all the same: a commit per slot would be dear, an idle device too. */
const gatherSlotsMs = 20;
/** How often the rows of a live job are counted, ms: a counter that had drifted would keep the job from ending. [jobs §9] */
const recountMs = 300_000;
/** How often everything is looked at without a reason, ms: the feed may lose a device's arrival. */
const lookAtAllMs = 5_000;

export class JobRun {
  readonly #run: RunContext;
  readonly #row: JobRow;
  readonly #buffer: OutcomeBuffer;
  readonly #dispatch: TargetDispatch;
  readonly #verification: TargetVerification;
  readonly #verdicts: ToolSetVerdicts;
  readonly #signal: WakeSignal;
  readonly #news: ProgressNews;
  readonly #pace: JobPace;
  readonly #steps: JobSteps;
  readonly #schedule = new JobSchedule();
  #isStopping = false;
  /** Whether a claim could find something. */
  #mayHaveReady = true;
  /** Whether all targets could be decided, or some be lost. */
  #isCountDue = true;
  #fruitlessClaims = 0;
  /** Whether the counters may ask for a stop, or for the next wave. */
  #isStepDue = true;
  /** When a target that waits for another try is due, ms since the Unix epoch. */
  #retryAt = -Infinity;
  #actedOn: JobState | undefined;
  #lookedAtAllAt = -Infinity;
  #recountedAt: number;

  /** `shared`: by all jobs of this process. */
  constructor(
    deps: RunDeps,
    shared: { readonly slots: SlotPool; readonly turns: StatementTurns },
    fence: JobFence,
    job: Job,
  ) {
    this.#run = new RunContext(deps, fence, shared.turns);
    this.#signal = new WakeSignal(deps.clock);
    this.#news = new ProgressNews(deps.bus.feed, deps.clock, job.id);
    this.#row = new JobRow(this.#run, job, () => this.#news.tell());
    this.#recountedAt = deps.clock.now();
    this.#verdicts = toolSetVerdicts(deps, job, job.firmwareImageId !== undefined);
    this.#buffer = new OutcomeBuffer(this.#run, (flushed) => this.#onFlushed(flushed));
    this.#dispatch = new TargetDispatch(this.#run, this.#buffer, this.#verdicts, shared.slots, () =>
      this.#signal.wake(),
    );
    this.#verification = new TargetVerification(this.#run, job, {
      freeSlots: (current) => this.#dispatch.freeSlots(current),
      lend: (count) => this.#dispatch.lend(count),
      onNews: () => this.#signal.wake(),
      onSettled: (isSomeReady) => this.#onDecided(isSomeReady),
    });
    this.#pace = new JobPace(job, deps.clock.now());
    this.#steps = new JobSteps(this.#run, this.#pace);
  }

  /** Works until the job is finished, `stop` or `abandon`. */
  async work(): Promise<void> {
    try {
      await this.#recover();
      await this.#verification.takeOver();
      while (!this.#isStopping && this.#row.value.state !== 'FINISHED') await this.#step();
    } catch (error) {
      // Answers that still come belong to whoever takes the job over.
      this.#run.end();
      if (!(error instanceof FleetError)) throw error;
      this.#run.deps.logger.warn({ err: error, jobId: this.#run.jobId }, 'the run of a job ended early');
    } finally {
      this.#dispatch.shut();
      this.#dispatch.forgetInFlight();
      this.#news.end();
    }
  }

  /** The row may have changed: it is read again at once. */
  refresh(): void {
    this.#row.markStale();
    this.#signal.wake();
  }

  /** These devices are online again; undefined: nobody knows which. */
  async wakeDevices(deviceIds: readonly DeviceId[] | undefined): Promise<void> {
    this.#verification.devicesReturned();
    if (this.#row.value.state !== 'RUNNING') return;
    const { registry, logger } = this.#run.deps;
    try {
      if ((await registry.jobs.wakeWaiting(this.#run.fence, deviceIds)) === 0) return;
      this.#mayHaveReady = true;
      this.#signal.wake();
    } catch (error) {
      logger.warn({ err: error, jobId: this.#run.jobId }, 'could not wake waiting targets; they are woken later');
    }
  }

  /** A device answered a call that had been given up. */
  answeredLate(callId: CallId, kind: CallOutcomeKind): void {
    if (this.#row.value.verification !== 'NONE') this.#verification.answeredLate(callId, kind);
  }

  /** Sends nothing more, gives calls in flight `graceMs` to settle, and writes what is known. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#dispatch.shut();
    this.#signal.wake();
    const { clock } = this.#run.deps;
    const until = clock.now() + graceMs;
    while (!this.#dispatch.isIdle && !this.#run.isEnded && clock.now() < until) {
      this.#buffer.flush();
      await new Promise<void>((resolve) => clock.setTimer(gatherSlotsMs, resolve));
    }
    this.#run.end();
  }

  /** At once: the lease is lost, and another process may own the job already. */
  abandon(): void {
    this.#isStopping = true;
    this.#run.end();
    this.#dispatch.shut();
    this.#signal.wake();
  }

  /** Resolves to how many targets were left in flight. */
  async #recover(): Promise<number> {
    const { registry, clock, logger, rollout } = this.#run.deps;
    const { firmwareImageId } = this.#row.value;
    if (firmwareImageId !== undefined)
      this.#run.imageBytes = await this.#run.persist('read the size of the image', () =>
        rollout.store.imageBytes(this.#run.jobId),
      );
    const times = this.#verification.deadlinesOf(this.#row.value);
    const { unknownDeviceIds, ...found } = await this.#run.persist('recover targets', () =>
      registry.jobs.recover(this.#run.fence, clock.now(), times),
    );
    this.#run.tellDecided(unknownDeviceIds);
    const count = found.resent + found.verifying + found.unknown;
    if (count > 0) logger.info({ jobId: this.#run.jobId, ...found }, 'classified targets that were left in flight');
    if (found.verifying > 0) this.#verification.expect();
    this.#mayHaveReady = true;
    this.#isCountDue = true;
    this.#isStepDue = true;
    return count;
  }

  async #step(): Promise<void> {
    if (this.#row.isStale) await this.#row.refresh();
    if (await this.#schedule.follow(this.#row, this.#run.deps.clock.now())) return;
    const job = this.#row.value;
    if (job.state !== this.#actedOn) this.#enter(job.state);
    await this.#lookAtAllNowAndThen(job);
    await this.#verification.look(job);
    switch (job.state) {
      case 'PREPARING':
        return this.#prepare(job);
      case 'RUNNING':
        return this.#send(job);
      case 'CANCELLING':
        return this.#endTargets(job);
      case 'PAUSED':
        return this.#finishOrSleep(job);
      case 'AWAITING_APPROVAL':
      case 'SCHEDULED':
      case 'FINISHED':
        return this.#sleep(lookAgainMs);
    }
  }

  #enter(state: JobState): void {
    this.#actedOn = state;
    this.#mayHaveReady = true;
    this.#isCountDue = true;
    this.#isStepDue = true;
    this.#retryAt = -Infinity;
    this.#steps.reset();
    if (state === 'RUNNING') this.#dispatch.open();
    else this.#dispatch.shut();
  }

  async #prepare(job: Job): Promise<void> {
    const isComplete = await prepareTargets(
      this.#run,
      job,
      this.#verdicts,
      () => !this.#row.isStale && !this.#isStopping,
    );
    if (isComplete) await this.#row.move('prepared');
  }

  /** Claims when there are enough free slots, or some and they have waited; otherwise finishes or sleeps. */
  async #send(job: Job): Promise<void> {
    if (await this.#takeStep(job)) return;
    if (await this.#steps.openTargets(job)) this.#mayHaveReady = true;
    await this.#releaseRetries();
    // Written since the counters were read, which may ask for a stop by now: neither a claim nor the job's end comes before that.
    if (this.#isStepDue) return;
    if (!this.#mayHaveReady) {
      this.#dispatch.rest();
      return this.#finishOrSleep(job);
    }
    if (this.#pace.isBounded ? !this.#dispatch.canClaim(job) : !this.#dispatch.isClaimWorthwhile(job)) {
      await this.#sleep(this.#dispatch.canClaim(job) ? gatherSlotsMs : lookAgainMs);
      if (this.#row.isStale || this.#isStopping || this.#isStepDue || !this.#dispatch.canClaim(job)) return;
    }
    if (job.abortRules.length > 0 && this.#buffer.hasFailure) {
      // A rule sees what is written. It must see this before more is sent, however fast devices fail.
      this.#buffer.flush();
      return this.#sleep(lookAgainMs);
    }
    const allowed = this.#pace.allowed(this.#dispatch.claimLimit(job), this.#run.deps.clock.now());
    if (allowed === 0) return this.#sleep(Math.min(this.#pace.waitMs, lookAgainMs));
    await this.#claim(job, allowed);
  }

  async #claim(job: Job, limit: number): Promise<void> {
    const claimed = await this.#dispatch.claimAndSend(job, limit);
    if (claimed === undefined) return this.#sleep(lookAgainMs);
    this.#pace.spend(claimed);
    if (claimed > 0) this.#fruitlessClaims = 0;
    else await this.#judgeFruitlessClaim(job);
  }

  /** Stops, pauses or goes on to the next wave where the counters ask for it; true where the job moved. */
  async #takeStep(job: Job): Promise<boolean> {
    if (!this.#isStepDue && !this.#steps.isDue(this.#run.deps.clock.now())) return false;
    this.#isStepDue = false;
    const step = await this.#steps.next(job);
    switch (step.kind) {
      case 'none':
        return false;
      case 'opened':
        this.#row.markStale();
        this.#isStepDue = true;
        return true;
      case 'hold':
        this.#run.deps.logger.info(
          { jobId: job.id, wave: step.wave, because: step.because },
          'a job waits at the gate of a wave',
        );
        this.#isStepDue = !(await this.#row.move('pause', { pauseReason: 'WAVE_GATE' }));
        return true;
      case 'stop':
        this.#isStepDue = !(await this.#stopBy(step.tripped));
        return true;
    }
  }

  #stopBy(trippedRule: TrippedRule): Promise<boolean> {
    const { rule, wave, decided, failed } = trippedRule;
    this.#run.deps.logger.warn({ jobId: this.#run.jobId, rule, wave, decided, failed }, 'an abort rule stops a job');
    if (rule.action === 'CANCEL') return this.#row.move('cancel', { conclusion: 'ABORTED', trippedRule });
    return this.#row.move('pause', { pauseReason: 'ABORT_RULE', trippedRule });
  }

  async #releaseRetries(): Promise<void> {
    const { registry, clock } = this.#run.deps;
    const now = clock.now();
    if (now < this.#retryAt) return;
    const { released, nextAt } = await this.#run.persist('release retries', () =>
      registry.jobs.releaseRetries(this.#run.fence, now),
    );
    this.#retryAt = nextAt ?? Infinity;
    if (released > 0) this.#mayHaveReady = true;
  }

  /** Nothing was claimed: nothing is left, or those at the head went offline, or PostgreSQL knows better than we whether we may. */
  async #judgeFruitlessClaim(job: Job): Promise<void> {
    this.#isCountDue = true;
    this.#mayHaveReady = (await this.#steps.readyOrRetrying(job)) > 0;
    this.#fruitlessClaims = this.#mayHaveReady ? this.#fruitlessClaims + 1 : 0;
    if (this.#mayHaveReady) await this.#sleep(Math.min(gatherSlotsMs * this.#fruitlessClaims, lookAgainMs));
  }

  /** Never-sent targets end at once; those in flight are awaited, unless the operator does not want to. */
  async #endTargets(job: Job): Promise<void> {
    const { registry, clock } = this.#run.deps;
    const { fence } = this.#run;
    const outcome = job.conclusion === undefined ? 'EXPIRED' : 'CANCELLED';
    if (this.#mayHaveReady || this.#isCountDue) {
      const ended = await this.#run.persist('end targets', () =>
        registry.jobs.endNeverSent(fence, outcome, clock.now()),
      );
      this.#run.tellDecided(ended.deviceIds);
      if (ended.count > 0) this.#news.changed();
      this.#mayHaveReady = false;
      this.#isCountDue = true;
    }
    if (isForcedCancel(job)) {
      // Answers that are here already are told as they are, and so is what was never sent.
      if (this.#buffer.depth > 0 || this.#dispatch.isSending) return this.#flushAndSleep();
      const error = {
        code: 'SESSION_CLOSED',
        message: 'The job was cancelled without waiting for the answer.',
      } as const;
      const ended = await this.#run.persist('end calls in flight', () =>
        registry.jobs.endInFlight(fence, error, clock.now()),
      );
      this.#run.tellDecided(ended.deviceIds);
      this.#dispatch.forgetInFlight();
    }
    await this.#finishOrSleep(job);
  }

  #flushAndSleep(): Promise<void> {
    this.#buffer.flush();
    return this.#sleep(lookAgainMs);
  }

  async #finishOrSleep(job: Job): Promise<void> {
    // Nothing more comes to keep the last outcomes company.
    if (this.#dispatch.inFlightCount === 0) this.#buffer.flush();
    if (this.#isCountDue && this.#dispatch.isIdle) {
      this.#isCountDue = false;
      const progress = await this.#progress();
      // In flight for PostgreSQL and not for us: a claim whose answer was lost on the way here.
      if (progress.inFlight > 0) {
        if ((await this.#recover()) === 0) await this.#recount();
        return;
      }
      if (liveTargets(progress) === 0 && (await this.#finish(job, progress))) return;
    }
    await this.#sleep(lookAgainMs);
  }

  async #finish(job: Job, progress: JobProgress): Promise<boolean> {
    const counted = (await this.#recount()) === 0 ? progress : await this.#progress();
    return this.#row.move('decided', { conclusion: concludeJob(counted, earlyConclusion(job.conclusion)) });
  }

  /** Resolves to the drift that was found and mended. */
  async #recount(): Promise<number> {
    const { clock, logger, registry } = this.#run.deps;
    const { jobId } = this.#run;
    this.#recountedAt = clock.now();
    const drift = await this.#run.persist('recount targets', () => registry.jobs.reconcile(jobId));
    if (drift !== 0) logger.error({ jobId, drift }, 'the counters of a job had drifted from its rows');
    return drift;
  }

  async #progress(): Promise<JobProgress> {
    const { jobs } = this.#run.deps.registry;
    const progress = (await this.#run.persist('read progress', () => jobs.progress([this.#run.jobId]))).get(
      this.#run.jobId,
    );
    if (progress === undefined) throw new FleetError('JOB_LOST', `The row of live job ${this.#run.jobId} is gone.`);
    return progress;
  }

  async #lookAtAllNowAndThen(job: Job): Promise<void> {
    const now = this.#run.deps.clock.now();
    if (now - this.#lookedAtAllAt < lookAtAllMs) return;
    this.#lookedAtAllAt = now;
    // Devices are offered images by whichever process they ask.
    if (job.firmwareImageId !== undefined) this.#verification.expect();
    this.#isCountDue = true;
    this.#isStepDue = true;
    if (now - this.#recountedAt >= recountMs) await this.#recount();
    if (job.state === 'RUNNING') await this.wakeDevices(undefined);
  }

  /** A sleep that ends on its own reads the row again, because the feed may have lost a change. */
  async #sleep(timeoutMs: number): Promise<void> {
    const isWoken = await this.#signal.sleep(timeoutMs);
    if (!isWoken && timeoutMs >= lookAgainMs) this.#row.markStale();
    await this.#dispatch.markSent();
  }

  #onFlushed({ kinds, retryAt }: Flushed): void {
    if (kinds.has('verifying')) this.#verification.expect();
    this.#retryAt = Math.min(this.#retryAt, retryAt);
    this.#onDecided(kinds.has('ready'));
  }

  #onDecided(isSomeReady: boolean): void {
    this.#isCountDue = true;
    this.#isStepDue = true;
    if (isSomeReady) this.#mayHaveReady = true;
    this.#news.changed();
    this.#signal.wake();
  }
}

function liveTargets({ pending, waitingDevice, inFlight, verifying }: JobProgress): number {
  return pending + waitingDevice + inFlight + verifying;
}

function earlyConclusion(conclusion: JobConclusion | undefined): EarlyConclusion | undefined {
  return conclusion === 'CANCELLED' || conclusion === 'ABORTED' || conclusion === 'DENIED' || conclusion === 'EXPIRED'
    ? conclusion
    : undefined;
}
