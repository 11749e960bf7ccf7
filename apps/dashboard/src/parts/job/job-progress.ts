/** The counts of a job, as bars and charts show them. */
import type { JobCountsFragment } from '@flotilla/client';
import type { OutcomeCounts } from '../outcome/outcome-bar';

export function decidedOf({ total, pending, waitingDevice, inFlight, verifying }: JobCountsFragment): number {
  return total - pending - waitingDevice - inFlight - verifying;
}

export function countsOf(progress: JobCountsFragment): OutcomeCounts {
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
