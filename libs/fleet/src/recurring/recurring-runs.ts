/**
 * Starts the runs that are due. Each step may be repeated by another worker or after a crash: the
 * job of a due time has a fixed idempotency key, and the next time is compared and set.
 */
import type { EventType, RecurringJobRow, RecurringRun, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { Actor } from '../actor.js';
import { FleetError } from '../fleet-error.js';
import type { FleetErrorCode } from '../fleet-error.js';
import { PolicyCache } from '../policies/policy-cache.js';
import { writeEvent } from '../write-event.js';
import { CronTimes } from './cron-times.js';
import { currentActor } from './current-actor.js';
import type { CallerLookUps } from './current-actor.js';
import { refuseStoredMasks, secretsLost } from './recurring-jobs.js';
import type { RecurringJobDeps } from './recurring-jobs.js';
import { hasStarted, startRun } from './start-run.js';

export interface RecurringRunDeps extends Omit<RecurringJobDeps, 'policies'> {
  readonly registry: RecurringJobDeps['registry'] & CallerLookUps & Pick<Registry, 'events' | 'toolPolicies'>;
  readonly clock: Clock;
}

/** A run that was due longer than this when a worker came to look was missed: no worker ran. */
const MISSED_AFTER_MS = 60_000;
/** Runs started in one round. */
const ROUND_MAX = 100;
/** Between two sweeps a timer wakes for runs that are due before the next one. */
const LOOK_AHEAD_MS = 15_000;
/** Who pauses a recurring job, in the audit trail. */
const HUB = { actor: 'hub' };

export class RecurringRuns {
  readonly #deps: RecurringRunDeps & RecurringJobDeps;
  #running: Promise<void> | undefined;
  #cancelTimer: () => void = () => undefined;
  #isStopped = false;

  constructor(deps: RecurringRunDeps) {
    this.#deps = { ...deps, policies: new PolicyCache(deps.registry.toolPolicies, deps.clock, deps.bus.feed) };
  }

  /**
   * Starts all runs that are due. Callers at the same time share one round. `busySince` is the
   * start of the first of several rounds without a pause, in ms since the Unix epoch.
   */
  async runDue(busySince = this.#deps.clock.now()): Promise<void> {
    if (this.#isStopped) return;
    await (this.#running ??= this.#round(busySince).finally(() => (this.#running = undefined)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    await this.#running?.catch(() => undefined);
  }

  async #round(busySince: number): Promise<void> {
    const { clock, logger, registry } = this.#deps;
    let hasFailed = false;
    for (const job of await registry.recurringJobs.due(clock.now(), ROUND_MAX)) {
      if (this.#isStopped) return;
      await this.#runOne(job, busySince).catch((error: unknown) => {
        hasFailed = true;
        logger.warn(
          { err: error, recurringJobId: job.id },
          'could not start a recurring job; the next sweep tries again',
        );
      });
    }
    this.#lookAhead(await registry.recurringJobs.nextDueAt(), { hasFailed, busySince });
  }

  #lookAhead(dueAt: number | undefined, round: { readonly hasFailed: boolean; readonly busySince: number }): void {
    const { clock, logger } = this.#deps;
    this.#cancelTimer();
    const delayMs = Math.max(0, (dueAt ?? Infinity) - clock.now());
    // A run that failed is still due, and would fail again at once.
    const isLeftToSweep = round.hasFailed && delayMs === 0;
    if (isLeftToSweep || delayMs > LOOK_AHEAD_MS || this.#isStopped) return;
    this.#cancelTimer = clock.setTimer(delayMs, () => {
      this.runDue(delayMs === 0 ? round.busySince : undefined).catch((error: unknown) => {
        logger.warn({ err: error }, 'could not look for recurring jobs; the next sweep tries again');
      });
    });
  }

  /** A run that waits for others of this worker is late, but not missed. */
  async #runOne({ id, nextRunAt: dueAt }: RecurringJobRow, busySince: number): Promise<void> {
    const { clock, registry } = this.#deps;
    const due = dueAt === undefined ? undefined : await registry.recurringJobs.findRun(id, dueAt);
    if (dueAt === undefined || due === undefined) return;
    const { job } = due;
    const now = clock.now();
    const current = await currentActor(registry, job.savedById, now);
    if ('missing' in current) return this.#pause(job, current.missing);
    const isOver = job.until !== undefined && now > job.until;
    const isMissed = busySince - dueAt > MISSED_AFTER_MS && (job.missed === 'SKIP' || isOver);
    const skipped = isMissed
      ? await this.#leaveOut(job, dueAt, current.actor)
      : await this.#start(due, dueAt, current.actor);
    const isAdvanced = await registry.recurringJobs.advance(id, dueAt, new CronTimes(job).next(now, job.until));
    // Only one worker reports it.
    if (skipped !== undefined && isAdvanced) this.#report('recurring_job.skipped', job, { reason: skipped, dueAt });
  }

  /** Undefined if a worker had started the run and was killed before it set the next time. */
  async #leaveOut(job: RecurringJobRow, dueAt: number, actor: Actor): Promise<'MISSED' | undefined> {
    return (await hasStarted(this.#deps, job, { key: String(dueAt), actor })) ? undefined : 'MISSED';
  }

  /** OVERLAP if it is left out. */
  async #start({ job, request }: RecurringRun, dueAt: number, actor: Actor): Promise<'OVERLAP' | undefined> {
    if (request === 'lost') return this.#pause(job, secretsLost.message);
    const masked = await refuseStoredMasks(this.#deps, request, actor);
    if (masked !== undefined) return this.#pause(job, masked.message);
    const run = { request, key: String(dueAt), actor };
    const { former, refusal } = await startRun(this.#deps, job, run).catch(refusalOf);
    if (former === undefined && refusal === undefined) return undefined;
    // A worker may have started it before an edit, and ended before it set the next time.
    if (await hasStarted(this.#deps, job, run)) return undefined;
    if (former !== undefined) return 'OVERLAP';
    if (refusal !== undefined)
      this.#report('recurring_job.failed', job, { code: refusal.code, message: refusal.message });
    return undefined;
  }

  async #pause(job: RecurringJobRow, reason: string): Promise<undefined> {
    const at = this.#deps.clock.now();
    const isPaused = await this.#deps.registry.recurringJobs.pause(job, reason, at, HUB);
    if (isPaused) this.#report('recurring_job.paused', job, { reason });
  }

  #report(type: EventType, { id, name }: RecurringJobRow, more: Readonly<Record<string, unknown>>): void {
    writeEvent(this.#deps, type, undefined, { recurringJobId: id, name, ...more });
  }
}

/** A right is missing. The run is reported as failed, because each retry would fail too. */
function refusalOf(error: unknown): {
  readonly former?: undefined;
  readonly refusal: { readonly code: FleetErrorCode; readonly message: string };
} {
  if (error instanceof FleetError && error.code === 'FORBIDDEN') return { refusal: error };
  throw error;
}
