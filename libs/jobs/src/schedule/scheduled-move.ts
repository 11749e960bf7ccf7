/**
 * What the clock asks of a job: to start, to end, to pause and resume with its window. [jobs §2]
 */
import type { JobTrigger } from '../job-transitions.js';
import type { Job } from '../job-types.js';
import type { WindowState } from './window-at.js';

interface ScheduledMove {
  readonly trigger: Extract<JobTrigger, 'start' | 'expire' | 'pause' | 'resume'>;
  readonly pauseReason?: 'WINDOW_CLOSED';
  readonly conclusion?: 'EXPIRED' | 'ABORTED';
}

type ScheduledJob = Pick<Job, 'state' | 'pauseReason' | 'expiresAt' | 'startAt'>;

/**
 * Undefined where nothing is due. A job that an operator paused stays paused when its window opens.
 */
export function scheduledMove(
  job: ScheduledJob,
  window: WindowState | undefined,
  now: number,
): ScheduledMove | undefined {
  const { state } = job;
  if (state === 'CANCELLING' || state === 'FINISHED') return undefined;
  if (job.expiresAt <= now) {
    // It has no targets yet that could show how it ended.
    if (state === 'AWAITING_APPROVAL' || state === 'SCHEDULED') return { trigger: 'expire', conclusion: 'EXPIRED' };
    // Its targets would say that it went well: no person has decided about the restarts.
    if (state === 'PAUSED' && job.pauseReason === 'HEALTH_GATE') return { trigger: 'expire', conclusion: 'ABORTED' };
    return { trigger: 'expire' };
  }
  if (state === 'SCHEDULED') return (job.startAt ?? now) <= now ? { trigger: 'start' } : undefined;
  if (window === undefined) return undefined;
  if (state === 'RUNNING' && !window.isOpen) return { trigger: 'pause', pauseReason: 'WINDOW_CLOSED' };
  if (state === 'PAUSED' && job.pauseReason === 'WINDOW_CLOSED' && window.isOpen) return { trigger: 'resume' };
  return undefined;
}
