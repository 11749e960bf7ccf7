/**
 * How many targets to claim at once. A crash makes claimed targets of a non-idempotent tool
 * UNKNOWN, so the risk sets the size.
 */
import type { Job } from './job-types.js';

/** Resending is harmless: the commit is what costs. */
const idempotentBatchMax = 500;
/** The most targets that a crash may turn UNKNOWN without their having been contacted. */
const riskyBatchMax = 25;

type ClaimingJob = Pick<Job, 'idempotent' | 'maxInFlight'>;

/** Targets of one intent. `rowsMax` makes a statement smaller for other reasons. */
export function intentBatchMax(job: ClaimingJob, rowsMax = Infinity): number {
  return Math.min(job.idempotent ? idempotentBatchMax : riskyBatchMax, job.maxInFlight, rowsMax);
}

/** What may be claimed now: a batch, but never more than there are free slots. */
export function claimLimit(job: ClaimingJob, inFlight: number, rowsMax?: number): number {
  return Math.max(0, Math.min(intentBatchMax(job, rowsMax), job.maxInFlight - inFlight));
}

/** Whether a claim is worth a commit: a quarter of the slots or a whole batch is free. */
export function isClaimWorthwhile(job: ClaimingJob, inFlight: number, rowsMax?: number): boolean {
  return (
    claimLimit(job, inFlight, rowsMax) >=
    Math.min(intentBatchMax(job, rowsMax), Math.max(1, Math.floor(job.maxInFlight / 4)))
  );
}
