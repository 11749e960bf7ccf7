/** What a finished job is called, from how it was ended and from what became of its targets. Counts nothing itself. */
import type { JobConclusion, JobProgress } from './job-types.js';

/** Conclusions that are certain before the last target is decided: an operator or a rule ended the job, or its time was up before it had targets. */
export type EarlyConclusion = Extract<JobConclusion, 'DENIED' | 'CANCELLED' | 'ABORTED' | 'EXPIRED'>;

/**
 * Where several conclusions hold, the first of DENIED, CANCELLED, ABORTED, EXPIRED, SUCCEEDED, FAILED, PARTIAL. [jobs §2] EXPIRED only where nothing at all
 * was sent: one sleeping board does not make a good job expired.
 */
export function concludeJob(progress: JobProgress, early: EarlyConclusion | undefined): JobConclusion {
  if (early !== undefined) return early;
  const good = progress.succeeded + progress.noChange;
  const sent = good + progress.failed + progress.verifyFailed + progress.unknown;
  if (progress.expired > 0 && sent === 0) return 'EXPIRED';
  if (good + progress.skipped === progress.total) return 'SUCCEEDED';
  return good === 0 ? 'FAILED' : 'PARTIAL';
}
