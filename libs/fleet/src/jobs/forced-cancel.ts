/** How a cancelled job's row remembers that nobody wants to wait for its calls in flight, so that whichever process owns the job learns of it. */
import type { Job, JobConclusion, JobState, PauseReason } from '@flotilla/jobs';

interface CancelledRow {
  readonly state: JobState;
  readonly conclusion: JobConclusion;
  readonly pauseReason?: PauseReason;
}

/** An operator's cancel is certain to be the job's conclusion, so it is written at once; an expired job gets its conclusion at the end. */
export function cancelledRow(isForced: boolean): CancelledRow {
  return { state: 'CANCELLING', conclusion: 'CANCELLED', ...(isForced ? { pauseReason: 'USER' } : {}) };
}

export function isForcedCancel(job: Pick<Job, 'state' | 'pauseReason'>): boolean {
  return job.state === 'CANCELLING' && job.pauseReason === 'USER';
}
