/**
 * Whether a device has restarted: it asked its OTA address, or ended the session of the call and
 * greeted on a later one.
 */
import { passed, pending, unknown, verifyFailed } from './verification-evidence.js';
import type { VerificationEvidence, VerificationVerdict } from './verification-evidence.js';

export function judgeReboot(evidence: VerificationEvidence, now: number): VerificationVerdict {
  const { sentEpoch, epoch, isOnline, hasLeft, bootedAt, deadlineAt } = evidence;
  // A board asks its OTA address once per boot. [xiaozhi §7.1]
  if (bootedAt !== undefined) return passed;
  const isOver = now >= deadlineAt;
  if (epoch !== undefined && epoch > sentEpoch && isOnline) {
    if (hasLeft) return passed;
    // After a hub stop every device has a new session, which proves no restart.
    return unknown({
      code: 'HUB_RESTARTED',
      message: 'The hub stopped meanwhile; the device is connected again, whether it restarted is not known.',
    });
  }
  if (!isOver) return pending;
  if (epoch === sentEpoch && isOnline)
    return verifyFailed('DID_NOT_RESTART', 'The device stayed on its session and did not restart.');
  return unknown({ code: 'LOST_AFTER_RESTART', message: 'The device did not come back in time.' });
}
