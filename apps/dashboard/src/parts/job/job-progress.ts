/** The counts of a job, as bars and charts show them. */
import type { OutcomeCounts } from '../outcome/outcome-bar';

export interface ProgressCounts {
  readonly total: number;
  readonly pending: number;
  readonly waitingDevice: number;
  readonly inFlight: number;
  readonly verifying: number;
  readonly succeeded: number;
  readonly noChange: number;
  readonly failed: number;
  readonly rejected: number;
  readonly verifyFailed: number;
  readonly unknown: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly skipped: number;
}

export function decidedOf({ total, pending, waitingDevice, inFlight, verifying }: ProgressCounts): number {
  return total - pending - waitingDevice - inFlight - verifying;
}

export function countsOf(progress: ProgressCounts): OutcomeCounts {
  return {
    SUCCEEDED: progress.succeeded,
    NO_CHANGE: progress.noChange,
    FAILED: progress.failed,
    REJECTED: progress.rejected,
    VERIFY_FAILED: progress.verifyFailed,
    UNKNOWN: progress.unknown,
    EXPIRED: progress.expired,
    CANCELLED: progress.cancelled,
    SKIPPED: progress.skipped,
    IN_FLIGHT: progress.inFlight,
    VERIFYING: progress.verifying,
    WAITING_DEVICE: progress.waitingDevice,
    PENDING: progress.pending,
  };
}
