/** Recurring jobs as callers of the store see them. Times are ms since the Unix epoch. */
import type { ChangeOrigin } from '../audit/audit-entry.js';
import type { DeviceFilter } from '../device-filter.js';

/** The fate of a run that was due while no worker ran. */
export type MissedRunPolicy = 'SKIP' | 'RUN_ONCE';
/** The fate of a run that is due while the former one is still under way. */
export type OverlapPolicy = 'SKIP' | 'CANCEL_PREVIOUS';

/** The request of each job, as libs/fleet reads it: with a tool and arguments, or with an image. */
export interface RecurringRequest {
  readonly tool?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly firmwareImageId?: string;
  readonly devices: DeviceFilter;
}

/** The part that the owner decides. */
export interface RecurringJobPlan {
  readonly name: string;
  /** Five fields, or a name such as @daily. */
  readonly cron: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly request: RecurringRequest;
  readonly missed: MissedRunPolicy;
  readonly overlap: OverlapPolicy;
  /** No run starts after it. */
  readonly until: number | undefined;
  readonly enabled: boolean;
}

/** Secrets in the arguments of the request are masked. */
export interface RecurringJobRow extends RecurringJobPlan {
  readonly id: string;
  /** Why the hub disabled it; undefined if a person did, and while it is enabled. */
  readonly pausedReason: string | undefined;
  /** Undefined where no run is due. */
  readonly nextRunAt: number | undefined;
  readonly createdBy: string;
  /** `principalRef` of the creator, who sees it with a scoped key. */
  readonly createdById: string;
  /** `principalRef` of who saved it last, other than to switch it: runs have their rights. */
  readonly savedById: string;
  /** `principalRef` of who entered its secret arguments, who may send them to other devices. */
  readonly secretsById: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A recurring job with its request as it is sent. */
export interface RecurringRun {
  readonly job: RecurringJobRow;
  /** `lost` if its secrets were sealed with another key. */
  readonly request: RecurringRequest | 'lost';
}

export interface NewRecurringJob
  extends RecurringJobPlan, Pick<RecurringJobRow, 'id' | 'nextRunAt' | 'createdBy' | 'createdById'> {
  readonly idempotencyKey: string;
  readonly requestHash: string;
}

/** A later version of the plan, saved by `savedById`. */
export interface ChangedRecurringJob
  extends RecurringJobPlan, Pick<RecurringJobRow, 'id' | 'nextRunAt' | 'savedById' | 'secretsById' | 'pausedReason'> {
  /** Leaves the stored request with its secrets as it is. */
  readonly keepsRequest?: boolean;
}

export interface RecurringJobUpdate extends ChangeOrigin {
  /** Whether the stored row is the one that the caller has read; without it, any is. */
  readonly isExpected?: (stored: RecurringJobRow) => boolean;
}

/** The result of a change. Only `saved` and `repeat` have a row; only `saved` changed something. */
export type RecurringJobAnswer =
  | { readonly kind: 'saved' | 'repeat'; readonly job: RecurringJobRow }
  /** CONFLICT: the idempotency key was used for another request. */
  | { readonly kind: 'NOT_FOUND' | 'NAME_TAKEN' | 'FULL' | 'CONFLICT' | 'OTHER_REVISION' };
