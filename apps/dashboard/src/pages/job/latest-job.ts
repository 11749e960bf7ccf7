/** Which of two values of a job to show: a query may answer after the live updates have ended. */
import type { JobSeenFragment } from './generated/job';

type SeenJob = Pick<JobSeenFragment, 'id' | 'state'>;

/** The next value, unless it is from before the end of the job. No update follows that end. */
export function latestJob<Job extends SeenJob>(shown: Job | undefined, next: Job): Job {
  const isOlder = shown?.id === next.id && shown.state === 'FINISHED' && next.state !== 'FINISHED';
  return isOlder ? shown : next;
}
