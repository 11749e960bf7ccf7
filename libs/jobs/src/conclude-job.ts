/** The conclusion of a finished job, from how it was ended and from the outcomes of its targets. */
import type { JobConclusion, JobProgress } from './job-types.js';

/** Conclusions that are certain before the last target is decided. */
export type EarlyConclusion = Extract<JobConclusion, 'DENIED' | 'CANCELLED' | 'ABORTED' | 'EXPIRED'>;

/**
 * The first that holds of DENIED, CANCELLED, ABORTED, EXPIRED, SUCCEEDED, FAILED, PARTIAL. [jobs
 * §2] EXPIRED only where nothing was sent: one offline device does not expire a good job.
 */
export function concludeJob(progress: JobProgress, early: EarlyConclusion | undefined): JobConclusion {
  if (early !== undefined) return early;
  const good = progress.succeeded + progress.noChange;
  const sent = good + progress.failed + progress.verifyFailed + progress.unknown;
  if (progress.expired > 0 && sent === 0) return 'EXPIRED';
  if (good + progress.skipped === progress.total) return 'SUCCEEDED';
  return good === 0 ? 'FAILED' : 'PARTIAL';
}
