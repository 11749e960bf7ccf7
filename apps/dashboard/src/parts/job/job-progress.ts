/** The counts of a job, as bars and charts show them. */
import type { JobCountsFragment } from '@flotilla/client';
import type { OutcomeCounts } from '../outcome/outcome-bar';

export function decidedOf({ total, pending, waitingDevice, inFlight, verifying }: JobCountsFragment): number {
  return total - pending - waitingDevice - inFlight - verifying;
}

/** False while the hub has not selected the devices, or where the viewer sees none of them. */
export function areTargetsSelected(state: string, { total }: JobCountsFragment): boolean {
  return state === 'FINISHED' || total > 0;
}

/** PARTIAL has good and bad targets. A limited key that sees only one kind does not see all. */
export function isOfHiddenTargets(conclusion: string | null, { total, ...counts }: JobCountsFragment): boolean {
  const good = counts.succeeded + counts.noChange;
  return conclusion === 'PARTIAL' && (good === 0 || good + counts.skipped === total);
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
