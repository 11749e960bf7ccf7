/**
 * Whether a device runs the firmware that it was told to install. Only the version that it reports on a later session counts, and only after a soak;
 * no answer of the upgrade tool ever does. [xiaozhi §7.6]
 */
import { passed, pending, unknown, verifyFailed } from './verification-evidence.js';
import type { DecidedVerification, VerificationEvidence, VerificationVerdict } from './verification-evidence.js';
import type { VerificationTimes } from './verification-times.js';

type FirmwareTimes = Pick<VerificationTimes, 'soakMs' | 'overdueMs'>;

export function judgeFirmware(evidence: VerificationEvidence, times: FirmwareTimes, now: number): VerificationVerdict {
  const { sentEpoch, epoch, isOnline } = evidence;
  if (epoch === undefined || !isOnline) return judgeAway(evidence, times, now);
  return epoch > sentEpoch ? judgeReturned(evidence, times, now) : judgeStayed(evidence, times, now);
}

/** From when on a device that should have been back counts as lost, and one that never left as not having begun; undefined: never before the deadline. */
export function overdueAt(evidence: Pick<VerificationEvidence, 'softDeadlineAt' | 'lastByteAt'>, times: FirmwareTimes): number | undefined {
  const { softDeadlineAt, lastByteAt } = evidence;
  // A download that is slower than expected is no reason to stop a roll-out while it goes on.
  return softDeadlineAt === undefined || lastByteAt === undefined ? softDeadlineAt : Math.max(softDeadlineAt, lastByteAt + times.overdueMs);
}

/** A second go is allowed once, and only to a device that is known to run its old firmware. [jobs §7] */
export function mayUpgradeAgain(
  evidence: Pick<VerificationEvidence, 'version' | 'baselineVersion'>,
  verdict: VerificationVerdict,
  attempts: { readonly made: number; readonly max: number },
): boolean {
  if (verdict.kind !== 'decided' || verdict.decision.error?.code !== 'NOT_APPLIED_OR_ROLLED_BACK') return false;
  return (
    evidence.version !== undefined && evidence.version === evidence.baselineVersion && attempts.made < Math.min(attempts.max, attemptsMax)
  );
}

/** Sends of an upgrade to one device. */
const attemptsMax = 2;

function judgeAway({ deadlineAt, backSince }: VerificationEvidence, { soakMs }: FirmwareTimes, now: number): VerificationVerdict {
  // One that came back with its new firmware shortly before the deadline gets its soak.
  if (now < Math.max(deadlineAt, backSince === undefined ? deadlineAt : backSince + soakMs)) return pending;
  const message =
    backSince === undefined ? 'The device did not come back in time.' : 'The device came back with its new firmware, and left for good.';
  return unknown({ code: 'LOST_AFTER_UPDATE', message });
}

/** A device in the middle of a download answers no greeting, so one that has greeted is through with it. [xiaozhi §7.6] */
function judgeReturned(evidence: VerificationEvidence, { soakMs }: FirmwareTimes, now: number): VerificationVerdict {
  const { version, expectedVersion, baselineVersion, backSince, deadlineAt } = evidence;
  if (version === undefined) {
    return now < deadlineAt
      ? pending
      : unknown({ code: 'LOST_AFTER_UPDATE', message: 'The device came back without telling its firmware.' });
  }
  const isWanted = expectedVersion === undefined ? version !== baselineVersion : version === expectedVersion;
  if (!isWanted)
    return verifyFailed('NOT_APPLIED_OR_ROLLED_BACK', `The device came back with firmware ${version}${wanted(expectedVersion)}.`);
  return backSince !== undefined && now >= backSince + soakMs ? passed : pending;
}

function judgeStayed(evidence: VerificationEvidence, times: FirmwareTimes, now: number): VerificationVerdict {
  return now < (overdueAt(evidence, times) ?? evidence.deadlineAt)
    ? pending
    : didNotStart('The device stayed on its session and did not restart.');
}

function wanted(expectedVersion: string | undefined): string {
  return expectedVersion === undefined ? '' : ` instead of ${expectedVersion}`;
}

/** A device that ends like this may be stuck in its upgrading state, in which buttons and wake word are dead and a restart helps. [xiaozhi §7.6] */
export function didNotStart(message: string): DecidedVerification {
  return verifyFailed('UPDATE_DID_NOT_START_OR_FAILED', message);
}
