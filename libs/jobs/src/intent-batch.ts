/** How many targets to claim at once. A crash makes every claimed target of a tool that must not run twice UNKNOWN, so risk sets the size. */
import type { Job } from './job-types.js';

/** Resending is harmless: the commit is what costs. */
const idempotentBatchMax = 500;
/** The most targets that a crash may turn UNKNOWN without their having been contacted. */
const riskyBatchMax = 25;

export type ClaimingJob = Pick<Job, 'idempotent' | 'maxInFlight'>;

/** Targets that one intent may cover. `rowsMax`: where a statement is to be smaller for other reasons. */
export function intentBatchMax(job: ClaimingJob, rowsMax = Infinity): number {
  return Math.min(job.idempotent ? idempotentBatchMax : riskyBatchMax, job.maxInFlight, rowsMax);
}

/** What may be claimed now: a batch, but never more than there are free slots. */
export function claimLimit(job: ClaimingJob, inFlight: number, rowsMax?: number): number {
  return Math.max(0, Math.min(intentBatchMax(job, rowsMax), job.maxInFlight - inFlight));
}

/** Whether that is worth a commit: a quarter of the slots or a whole batch. Below it, waiting some milliseconds gathers more. */
export function isClaimWorthwhile(job: ClaimingJob, inFlight: number, rowsMax?: number): boolean {
  return (
    claimLimit(job, inFlight, rowsMax) >=
    Math.min(intentBatchMax(job, rowsMax), Math.max(1, Math.floor(job.maxInFlight / 4)))
  );
}
