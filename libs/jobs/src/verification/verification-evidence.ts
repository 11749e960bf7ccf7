/** What is known about a device whose call is being verified, and what can follow from it. Times are ms since the Unix epoch. */
import type { CallError, VerificationCode } from '@flotilla/mcp';
import type { TargetDecision } from '../job-types.js';

export interface VerificationEvidence {
  /** Epoch of the session that the call was sent on. */
  readonly sentEpoch: number;
  /** Epoch of the newest session; undefined where the device was deleted. */
  readonly epoch: number | undefined;
  /** The newest session has greeted and lives. */
  readonly isOnline: boolean;
  /** The device ended the session of the call, as one that restarts does; false where the hub's end may have ended it. */
  readonly hasLeft: boolean;
  /** Firmware that the device reported last. */
  readonly version: string | undefined;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
  /** Firmware that it should run; undefined where only an address is known: any but the baseline then. */
  readonly expectedVersion: string | undefined;
  /** Since when it has first been connected with that. */
  readonly backSince: number | undefined;
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
