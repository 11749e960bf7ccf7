/**
 * Whether a device runs the firmware that it should install. Only the version that it reports after
 * a restart counts, on a session or in an OTA request, and only after a soak. No answer of the
 * upgrade tool ever does. [xiaozhi §7.6]
 */
import { latestSighting } from './latest-sighting.js';
import type { Sighting } from './latest-sighting.js';
import { passed, pending, unknown, verifyFailed } from './verification-evidence.js';
import type { DecidedVerification, VerificationEvidence, VerificationVerdict } from './verification-evidence.js';
import type { VerificationTimes } from './verification-times.js';

type FirmwareTimes = Pick<VerificationTimes, 'soakMs' | 'overdueMs' | 'leaseMs'>;

export function judgeFirmware(evidence: VerificationEvidence, times: FirmwareTimes, now: number): VerificationVerdict {
  const seen = latestSighting(evidence);
  if (seen !== undefined) return judgeSeen(evidence, seen, times, now);
  return evidence.epoch === undefined || !evidence.isOnline
    ? judgeAway(evidence, times, now)
    : judgeStayed(evidence, times, now);
}

/**
 * From when on an absent device counts as lost, and one that never left as not started; undefined:
 * not before the deadline.
 */
export function overdueAt(
  evidence: Pick<VerificationEvidence, 'softDeadlineAt' | 'lastByteAt'>,
  times: Pick<FirmwareTimes, 'overdueMs'>,
): number | undefined {
  const { softDeadlineAt, lastByteAt } = evidence;
  // A download that is slower than expected is no reason to stop a roll-out while it goes on.
  return softDeadlineAt === undefined || lastByteAt === undefined
    ? softDeadlineAt
    : Math.max(softDeadlineAt, lastByteAt + times.overdueMs);
}

function judgeAway(
  { deadlineAt, backSince }: VerificationEvidence,
  { soakMs }: FirmwareTimes,
  now: number,
): VerificationVerdict {
  // One that came back with its new firmware shortly before the deadline gets its soak.
  if (now < Math.max(deadlineAt, backSince === undefined ? deadlineAt : backSince + soakMs)) return pending;
  const message =
    backSince === undefined
      ? 'The device did not come back in time.'
      : 'The device came back with its new firmware, and left for good.';
  return lost(message);
}

/** A device neither greets nor asks its OTA address during a download. [xiaozhi §7.6] */
function judgeSeen(
  evidence: VerificationEvidence,
  seen: Sighting,
  times: FirmwareTimes,
  now: number,
): VerificationVerdict {
  const { expectedVersion, deadlineAt } = evidence;
  const { version } = seen;
  if (version === undefined)
    return now < deadlineAt ? pending : lost('The device came back and did not report its firmware version.');
  if (!isWanted(evidence, version)) {
    if (isCutUnsure(evidence, seen, times, now)) return pending;
    return verifyFailed(
      'NOT_APPLIED_OR_ROLLED_BACK',
      `The device came back with firmware ${version}${wanted(expectedVersion)}.`,
    );
  }
  const since = runsSince(evidence);
  if (since !== undefined && now >= since + times.soakMs) return passed;
  // Each boot before the deadline starts the soak again; later ones do not, or a boot loop would
  // never end.
  const soakEndsBy = since === undefined ? deadlineAt : Math.min(since, deadlineAt) + times.soakMs;
  return now < Math.max(deadlineAt, soakEndsBy)
    ? pending
    : lost('The device came back with its new firmware, and kept restarting in its soak.');
}

/**
 * The start of the soak: the newest boot with the wanted version, or else the first session with it
 * since the newest boot.
 */
function runsSince({ backSince, bootedAt, bootVersion, ...evidence }: VerificationEvidence): number | undefined {
  if (bootedAt === undefined) return backSince;
  if (bootVersion !== undefined && isWanted(evidence, bootVersion)) return bootedAt;
  return backSince === undefined ? undefined : Math.max(backSince, bootedAt);
}

/**
 * A dead process keeps a living lease for at most `leaseMs`: until then it is unknown whether it
 * cut the download.
 */
function isCutUnsure(
  { download, deadlineAt }: VerificationEvidence,
  { at }: Sighting,
  { leaseMs }: FirmwareTimes,
  now: number,
): boolean {
  return download === 'OPEN' && at !== undefined && now < Math.min(deadlineAt, at + leaseMs);
}

function judgeStayed(evidence: VerificationEvidence, times: FirmwareTimes, now: number): VerificationVerdict {
  const isInTime = now < (overdueAt(evidence, times) ?? evidence.deadlineAt);
  if (evidence.hasAnswered) return isInTime && evidence.download === 'OPEN' ? pending : didNotStart(answeredUpgrade);
  return isInTime ? pending : didNotStart('The device stayed on its session and did not restart.');
}

type Versions = Pick<VerificationEvidence, 'expectedVersion' | 'baselineVersion'>;

function isWanted({ expectedVersion, baselineVersion }: Versions, version: string): boolean {
  return expectedVersion === undefined ? version !== baselineVersion : version === expectedVersion;
}

function wanted(expectedVersion: string | undefined): string {
  return expectedVersion === undefined ? '' : ` instead of ${expectedVersion}`;
}

function lost(message: string): DecidedVerification {
  return unknown({ code: 'LOST_AFTER_UPDATE', message });
}

export const answeredUpgrade = 'The device answered the upgrade, which it does only after a failure.';

/** The device may be stuck in its upgrading state, where a restart helps. [xiaozhi §7.6] */
export function didNotStart(message: string): DecidedVerification {
  return verifyFailed('UPDATE_DID_NOT_START_OR_FAILED', message);
}
