/**
 * Pauses, resumes and cancels jobs, and opens waves. Each is a compare-and-set on the row, from any
 * process; the owner of the job reads the row again.
 */
import { nextJobState } from '@flotilla/jobs';
import type { Job } from '@flotilla/jobs';
import type { JobMove, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { FleetError } from '../../fleet-error.js';
import { announceJob, publishEvents } from '../job-notifications.js';
import type { AnnounceDeps } from '../job-notifications.js';
import { sourceOf } from '../../actor.js';
import type { Actor } from '../../actor.js';
import type { JobAnswer } from './create-job.js';
import { refuse } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';

export interface SteerJobDeps extends AnnounceDeps {
  readonly registry: Pick<Registry, 'jobCommands' | 'viewFor'>;
  readonly clock: Clock;
}

/** Tries against concurrent transitions of the job, which are few. */
const triesMax = 10;

/** Refuses a job that has not begun: its start would ignore the pause. */
export function pauseJob(deps: SteerJobDeps, id: string, actor: Actor): Promise<JobAnswer> {
  return steerJob(deps, id, actor, (job) => {
    if (job.state === 'AWAITING_APPROVAL' || job.state === 'SCHEDULED')
      return refuse(
        'CONFLICT',
        ['id'],
        `The job has not begun: it is ${job.state}. Cancel it, or pause it when it runs.`,
      );
    const state = nextJobState(job, 'pause') ?? (endsByItself(job) ? 'PAUSED' : undefined);
    return state && { state, pauseReason: 'USER' };
  });
}

export function resumeJob(deps: SteerJobDeps, id: string, actor: Actor): Promise<JobAnswer> {
  return steerJob(deps, id, actor, (job) => {
    const state = nextJobState(job, 'resume');
    return state && { state, ...(job.pauseReason === 'WAVE_GATE' ? { waveApprovedBy: actor.name } : {}) };
  });
}

/** Only for a job that waits at a gate: a repeated request never opens two waves. */
export function openNextWave(deps: SteerJobDeps, id: string, actor: Actor): Promise<JobAnswer> {
  return steerJob(deps, id, actor, (job) => {
    if (job.state === 'PAUSED' && job.pauseReason === 'WAVE_GATE')
      return { state: 'RUNNING', waveApprovedBy: actor.name };
    return refuse(
      'CONFLICT',
      ['id'],
      `The job does not wait at a gate: it is ${job.state}, in wave ${job.currentWave}.`,
    );
  });
}

/**
 * A forced cancel does not wait for calls in flight: they end UNKNOWN. It also works on a job in
 * CANCELLING.
 */
export function cancelJob(deps: SteerJobDeps, id: string, isForced: boolean, actor: Actor): Promise<JobAnswer> {
  return steerJob(deps, id, actor, (job) => {
    const isMoreWanted =
      job.state === 'CANCELLING' && (job.conclusion !== 'CANCELLED' || (isForced && !job.isCancelForced));
    if (!isMoreWanted && nextJobState(job, 'cancel') === undefined) return undefined;
    // The conclusion is certain, so it is written now; an expired job gets it at the end.
    return { state: 'CANCELLING', conclusion: 'CANCELLED', isCancelForced: isForced };
  });
}

/** A pause that the hub itself ends, unless an operator pauses the job as well. */
function endsByItself({ state, pauseReason }: Job): boolean {
  return state === 'PAUSED' && pauseReason === 'WINDOW_CLOSED';
}

/** Moves the job as `next` says. Undefined from `next` returns the job as it is. */
export async function steerJob(
  deps: SteerJobDeps,
  id: string,
  actor: Actor,
  next: (job: Job) => JobMove | Refusal | undefined,
): Promise<JobAnswer> {
  const { jobs } = deps.registry.viewFor(actor);
  for (let tries = 0; tries < triesMax; tries += 1) {
    const job = await jobs.find(id);
    if (job === undefined) return { refusal: refuse('NOT_FOUND', ['id'], `There is no job "${id}".`) };
    const [hasTargetsOutside = true] = await jobs.haveTargetsOutside([job]);
    if (hasTargetsOutside)
      throw new FleetError(
        'FORBIDDEN',
        'The job has targets beyond the devices of this key, or has not counted them yet. ' +
          'Use a key that may access all of its devices.',
      );
    const row = next(job);
    if (row === undefined) return { job };
    if ('code' in row) return { refusal: row };
    const moved = await deps.registry.jobCommands.transition(job, row, deps.clock.now(), sourceOf(actor));
    if (moved === undefined) continue;
    announceJob(deps, moved.job.id);
    publishEvents(deps, moved.events);
    return { job: moved.job };
  }
  return { refusal: refuse('CONFLICT', ['id'], 'The job is changing too fast; try again.') };
}
