import type { Job, JobState } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { DeviceFilter } from '../../device-filter.js';

/** Members that change after the creation of a job. */
type DecidedLater =
  | 'state'
  | 'conclusion'
  | 'pauseReason'
  | 'isCancelForced'
  | 'version'
  | 'total'
  | 'approvalTargets'
  | 'currentWave'
  | 'trippedRule'
  | 'trippedHealthGate'
  | 'approvedBy'
  | 'startedAt'
  | 'finishedAt';

/** A job to create. Its row is all that a restarted hub needs. */
export interface NewJob extends Omit<Job, DecidedLater> {
  readonly state: Extract<JobState, 'AWAITING_APPROVAL' | 'SCHEDULED' | 'PREPARING'>;
  readonly devices: DeviceFilter;
  /** The schedule that creates it. */
  readonly recurringJobId?: string | undefined;
  /**
   * The only runs of this schedule that may be under way when this one is created; absent: any may.
   */
  readonly besideRuns?: readonly JobId[] | undefined;
  readonly idempotencyKey: string;
  /** Hash of the request. The same key with another hash is a conflict. */
  readonly requestHash: string;
}

/** No job was created, because the image to roll out was deleted. */
export interface MissingImage {
  readonly kind: 'image_missing';
}

/** No job was created, because another run of its schedule is under way. */
export interface OtherRun {
  readonly kind: 'other_run';
  readonly job: Job;
}

/**
 * The result for a used idempotency key: the earlier job for the same request, a conflict for
 * another one.
 */
export type EarlierJob = { readonly kind: 'repeat'; readonly job: Job } | { readonly kind: 'conflict' };
