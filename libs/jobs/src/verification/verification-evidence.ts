/**
 * What is known about a device whose call is verified, and the verdicts. Times are ms since the
 * Unix epoch.
 */
import type { CallError, VerificationCode } from '@flotilla/mcp';
import type { TargetDecision } from '../job-types.js';

/**
 * The newest download of the target: unknown, over (completed or ended by the device), open (its
 * process lives and recorded no end), or cut by the end of its process.
 */
export type DownloadState = 'NONE' | 'OVER' | 'OPEN' | 'CUT';

export interface VerificationEvidence {
  /** Epoch of the session that the call was sent on. */
  readonly sentEpoch: number;
  /** Epoch of the newest session; undefined where the device was deleted. */
  readonly epoch: number | undefined;
  /** The newest session has greeted and lives. */
  readonly isOnline: boolean;
  /** The device ended the session of the call; false where the end of the hub may have ended it. */
  readonly hasLeft: boolean;
  /** Firmware that the device reported last. */
  readonly version: string | undefined;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
  /** Firmware that it should run; undefined: any but the baseline, as only an address is known. */
  readonly expectedVersion: string | undefined;
  /** Since when it has first been connected with that. */
  readonly backSince: number | undefined;
  /** Start of the newest session. */
  readonly connectedAt: number | undefined;
  /**
   * When the hub received the newest OTA request after the send. A board makes one at each boot.
   */
  readonly bootedAt: number | undefined;
  /** Firmware that this request reported. */
  readonly bootVersion: string | undefined;
  /** The device answered the upgrade, which it does only after a failure. [xiaozhi §7.6] */
  readonly hasAnswered: boolean;
  readonly download: DownloadState;
  /** Repeated sends after the hub had cut the download. They do not count as attempts. */
  readonly cutRetries: number;
  /** When it was last served a byte of the image. */
  readonly lastByteAt: number | undefined;
  readonly deadlineAt: number;
  /** From then on a device that is still away is overdue. */
  readonly softDeadlineAt: number | undefined;
}

export interface DecidedVerification {
  readonly kind: 'decided';
  readonly decision: Omit<TargetDecision, 'certainty'>;
}

export type VerificationVerdict = { readonly kind: 'pending' } | DecidedVerification;

export const pending: VerificationVerdict = { kind: 'pending' };
export const passed: DecidedVerification = { kind: 'decided', decision: { outcome: 'SUCCEEDED', error: undefined } };

export function verifyFailed(code: VerificationCode, message: string): DecidedVerification {
  return { kind: 'decided', decision: { outcome: 'VERIFY_FAILED', error: { code, message } } };
}

export function unknown(error: CallError): DecidedVerification {
  return { kind: 'decided', decision: { outcome: 'UNKNOWN', error } };
}
