/**
 * Judges a device by what it did after its call. A read-back is judged when its value is read. Here
 * it can only time out.
 */
import type { CallError } from '@flotilla/mcp';
import type { Verification } from '../job-types.js';
import { judgeFirmware } from './judge-firmware.js';
import { judgeUnread } from './judge-readback.js';
import { judgeReboot } from './judge-reboot.js';
import { pending } from './verification-evidence.js';
import type { VerificationEvidence, VerificationVerdict } from './verification-evidence.js';
import type { VerificationTimes } from './verification-times.js';

/** `callError`: how the call ended where it had no answer. */
export function judgeVerification(
  kind: Verification,
  evidence: VerificationEvidence & { readonly callError: CallError | undefined },
  times: VerificationTimes,
  now: number,
): VerificationVerdict {
  switch (kind) {
    case 'REBOOT':
      return judgeReboot(evidence, now);
    case 'FIRMWARE':
      return judgeFirmware(evidence, times, now);
    case 'READBACK':
    case 'NONE':
      return now < evidence.deadlineAt ? pending : judgeUnread(evidence.callError);
  }
}
