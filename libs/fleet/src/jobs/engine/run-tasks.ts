/** Carries out the tasks of a run: each is one statement or a few, repeated until they succeed. */
import { countedSince, mayPrepare } from '@flotilla/jobs';
import type { RunMove, RunTask, TaskReport, VerificationEnd } from '@flotilla/jobs';
import type { JobMove } from '@flotilla/registry';
import { FleetError } from '../../fleet-error.js';
import type { TargetDispatch } from '../dispatch/target-dispatch.js';
import type { EligibilityCheck } from '../eligibility-check.js';
import { publishEvents } from '../job-notifications.js';
import type { Readbacks } from '../verification/readbacks.js';
import { moveInsteadOfStart } from './check-start.js';
import { freezeTargets, prepareTargets } from './prepare-targets.js';
import type { ProgressNotifications } from './progress-notifications.js';
import type { RunContext } from './run-context.js';

/** Targets of a wave that one statement makes ready: some tens of milliseconds. */
const openTargetsMax = 5_000;

interface RunParts {
  readonly dispatch: TargetDispatch;
  readonly eligibility: EligibilityCheck;
  /** Undefined where the job reads no values back. */
  readonly readbacks: Readbacks | undefined;
  readonly notifications: ProgressNotifications;
}

type Report<Kind extends TaskReport['kind']> = Extract<TaskReport, { readonly kind: Kind }>;

export class RunTasks {
  constructor(
    private readonly context: RunContext,
    private readonly parts: RunParts,
  ) {}

  async perform(task: RunTask): Promise<TaskReport> {
    const { persist, deps, fence, jobId } = this.context;
    const { jobs, targetPreparation, targetQueue, targetVerification } = deps.registry;
    const { dispatch, readbacks } = this.parts;
    const now = deps.clock.now();
    switch (task.kind) {
      case 'claim':
        return { kind: 'claimed', count: await dispatch.claim(task.limit) };
      case 'markSent':
        await dispatch.markSent();
        return { kind: 'sentMarked' };
      case 'readWaveCounters':
        return this.#readWaveCounters(task);
      case 'readJob':
        return this.#readJob();
      case 'moveJob':
        return this.#moveJob(task.move);
      case 'recover':
        return this.#recover(task);
      case 'prepare':
        return this.#prepare();
      case 'readTotals':
        return this.#readTotals();
      case 'countRows':
        return this.#countRows();
      case 'openWave':
        return this.#openWave(task.from);
      case 'endNeverSent':
      case 'endInFlight':
        return this.#endTargets(task);
      case 'readVerifying': {
        const look = await persist('look at devices', () => targetVerification.verifying(fence, now, task.callIds));
        return { kind: 'verifyingRead', count: look.verifyingCount, targets: look.targets };
      }
      case 'writeVerifications':
        return this.#writeVerifications(task.ends);
      case 'writeReadEnds':
        return this.#writeVerifications(readbacks?.take() ?? []);
      case 'beginReads':
        return { kind: 'readsBegun', isMoreDue: (await readbacks?.begin(task.limit)) === true };
      case 'readImageSize': {
        const bytes = await persist('read the size of the image', () => deps.rollout.store.imageBytes(jobId));
        return { kind: 'imageSizeRead', bytes };
      }
      case 'extendVerifications':
        await persist('extend verifications', () => targetVerification.extendVerifying(fence, task.until));
        return { kind: 'verificationsExtended' };
      case 'readLastDecision': {
        const at = await persist('read the last decision', () => targetPreparation.lastDecidedAt(fence, task.wave));
        return { kind: 'lastDecisionRead', at };
      }
      case 'readHealth':
        return this.#readHealth();
      case 'openTargets': {
        const count = await persist('open targets', () => targetPreparation.openTargets(fence, openTargetsMax, now));
        return { kind: 'targetsOpened', count };
      }
      case 'releaseRetries': {
        const { released, nextAt } = await persist('release retries', () => targetQueue.releaseRetries(fence, now));
        return { kind: 'retriesReleased', count: released, nextAt };
      }
      case 'readPending': {
        const [byWave] = await persist('read progress by wave', () => jobs.waveProgress([jobId]));
        return { kind: 'pendingRead', byWave: byWave ?? new Map() };
      }
    }
  }

  async #readHealth(): Promise<Report<'healthRead'>> {
    const { deps, jobId, persist } = this.context;
    const now = deps.clock.now();
    const { job } = this.context.state();
    const rollout = { id: jobId, since: countedSince(job, now), wave: job.currentWave };
    const read = () => deps.registry.restarts.health(rollout, now);
    return { kind: 'healthRead', evidence: await persist('read restarts', read) };
  }

  async #readWaveCounters({ withOverdue, withWaves }: Extract<RunTask, { kind: 'readWaveCounters' }>) {
    const { persist, deps, jobId } = this.context;
    const { jobs, targetVerification } = deps.registry;
    const [byWave] = await persist('read progress by wave', () => jobs.waveProgress([jobId]));
    const { overdueMs } = deps.verification;
    const overdue = withOverdue
      ? await persist('count overdue targets', () => targetVerification.overdue(jobId, deps.clock.now(), overdueMs))
      : new Map<number, number>();
    const [waves] = withWaves ? await persist('read the waves', () => jobs.waves([jobId])) : [];
    return { kind: 'waveCountersRead', byWave: byWave ?? new Map(), overdue, waves: waves ?? [] } as const;
  }

  async #readJob(): Promise<Report<'jobRead'>> {
    const { persist, deps, jobId } = this.context;
    const job = await persist('read the job', () => deps.registry.jobs.find(jobId));
    if (job === undefined) throw this.#jobLost();
    return { kind: 'jobRead', job };
  }

  async #moveJob({ gate, ...move }: RunMove & Pick<JobMove, 'reason'>): Promise<Report<'jobMoved'>> {
    const { persist, deps, jobId, state } = this.context;
    // Of this version, also where it is tried again: another one may have been changed by a person.
    const { id, version } = state().job;
    const moved = await persist('move the job', () =>
      deps.registry.jobCommands.transition({ id, version }, move, deps.clock.now()),
    );
    if (moved === undefined) return { kind: 'jobMoved', job: undefined };
    const { job } = moved;
    publishEvents(deps, moved.events);
    const { conclusion, pauseReason } = job;
    const details = { jobId, state: job.state, conclusion, pauseReason, ...gate, trippedRule: move.trippedRule };
    deps.logger[move.trippedRule === undefined ? 'info' : 'warn'](details, 'a job moved');
    this.parts.notifications.sendNow();
    return { kind: 'jobMoved', job };
  }

  async #recover({ deadlines }: Extract<RunTask, { kind: 'recover' }>): Promise<Report<'recovered'>> {
    const { persist, deps, fence, jobId } = this.context;
    const { unknownDeviceIds, ...found } = await persist('recover targets', () =>
      deps.registry.targetQueue.recover(fence, deps.clock.now(), deadlines),
    );
    this.context.publishDecided(unknownDeviceIds);
    const count = found.resent + found.verifying + found.unknown;
    if (count > 0) deps.logger.info({ jobId, ...found }, 'classified targets that were left in flight');
    return { kind: 'recovered', count, verifying: found.verifying };
  }

  async #prepare(): Promise<Report<'prepared'>> {
    const { deps, persist, state } = this.context;
    const stopped = { kind: 'prepared', isComplete: false } as const;
    if (!(await prepareTargets(this.context, this.parts.eligibility, () => mayPrepare(state())))) return stopped;
    // After the targets: from now on, publishing the image for more boards adds no devices.
    const move = await persist('check the image', () => moveInsteadOfStart(deps, state().job));
    if (move !== undefined) {
      await this.#moveJob(move);
      return stopped;
    }
    await freezeTargets(this.context, state().job);
    return { kind: 'prepared', isComplete: true };
  }

  async #readTotals(): Promise<Report<'totalsRead'>> {
    const { persist, deps, jobId } = this.context;
    const byJob = await persist('read progress', () => deps.registry.jobs.progress([jobId]));
    const progress = byJob.get(jobId);
    if (progress === undefined) throw this.#jobLost();
    return { kind: 'totalsRead', progress };
  }

  async #countRows(): Promise<Report<'rowsCounted'>> {
    const { persist, deps, jobId } = this.context;
    const drift = await persist('recount targets', () => deps.registry.jobCommands.reconcile(jobId));
    if (drift !== 0) deps.logger.error({ jobId, drift }, 'the counters of a job differed from its rows; corrected');
    return { kind: 'rowsCounted', drift };
  }

  async #openWave(from: number): Promise<Report<'waveOpened'>> {
    const { persist, deps, fence, jobId } = this.context;
    const isOpen = await persist('open a wave', () =>
      deps.registry.targetPreparation.openWave(fence, from, deps.clock.now()),
    );
    if (isOpen) deps.logger.info({ jobId, wave: from + 1 }, 'a wave of a job is open');
    return { kind: 'waveOpened' };
  }

  async #endTargets(task: Extract<RunTask, { kind: 'endNeverSent' | 'endInFlight' }>): Promise<TaskReport> {
    const { persist, deps, fence } = this.context;
    const { targetQueue } = deps.registry;
    const { count, deviceIds } = await persist('end targets', () =>
      task.kind === 'endNeverSent'
        ? targetQueue.endNeverSent(fence, task.outcome, deps.clock.now())
        : targetQueue.endInFlight(fence, notAwaited, deps.clock.now()),
    );
    this.context.publishDecided(deviceIds);
    return { kind: task.kind === 'endNeverSent' ? 'neverSentEnded' : 'inFlightEnded', count };
  }

  async #writeVerifications(ends: readonly VerificationEnd[]): Promise<Report<'verificationsWritten'>> {
    const { persist, deps, fence } = this.context;
    const moved = new Set(
      ends.length === 0
        ? []
        : await persist('write verifications', () =>
            deps.registry.targetVerification.settleVerifications(fence, ends, deps.clock.now()),
          ),
    );
    this.context.publishDecided(
      ends.flatMap(({ deviceId, to }) => (to.kind === 'decided' && moved.has(deviceId) ? deviceId : [])),
    );
    const isSomeReady = moved.size > 0 && ends.some(({ to }) => to.kind === 'again');
    return { kind: 'verificationsWritten', moved, isSomeReady };
  }

  #jobLost(): FleetError {
    return new FleetError('JOB_LOST', `The row of live job ${this.context.jobId} is gone.`);
  }
}

const notAwaited = {
  code: 'SESSION_CLOSED',
  message: 'The job was cancelled without waiting for the answer.',
} as const;
