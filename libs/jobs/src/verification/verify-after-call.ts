/**
 * What the end of a call means where a verification follows: mostly nothing, as the device's later
 * behaviour decides.
 */
import type { CallError, CallOutcome } from '@flotilla/mcp';
import type { Job } from '../job-types.js';
import { answeredUpgrade, didNotStart } from './judge-firmware.js';
import type { DecidedVerification, VerificationVerdict } from './verification-evidence.js';

type AfterCall =
  /** Nothing to verify: the end of the call decides. */
  | { readonly kind: 'callDecides' }
  /** The target is verified; `error` says how the call ended where it had no answer. */
  | { readonly kind: 'verify'; readonly error: CallError | undefined }
  | DecidedVerification;

interface EndedCall {
  /** With the policy's failure text applied. */
  readonly outcome: CallOutcome;
  /** From the send to the answer, ms. */
  readonly durationMs: number;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
}

/**
 * Ms from the call until an upgrade begins its download. An earlier answer does not mean failure.
 * [xiaozhi §4.6]
 */
const downloadBeginsMs = 4_000;

/** These versions answer a reboot and an upgrade at once. [xiaozhi §4.6] */
const answersAtOnce = /^2\.0\.[1-5](?!\d)/;

export function verifyAfterCall({ verification }: Pick<Job, 'verification'>, ended: EndedCall): AfterCall {
  const { kind, error } = ended.outcome;
  if (verification === 'NONE' || kind === 'FAILED' || kind === 'NOT_SENT' || kind === 'REJECTED')
    return { kind: 'callDecides' };
  if (kind === 'SUCCEEDED' && verification === 'FIRMWARE' && saysFailure(ended)) return upgradeAnswered();
  return { kind: 'verify', error };
}

/** The late answer of a call that is being verified. It decides only an upgrade. */
export function verifyAfterLateAnswer(
  { verification }: Pick<Job, 'verification'>,
  ended: EndedCall,
): VerificationVerdict {
  const isOver = verification === 'FIRMWARE' && (ended.outcome.kind === 'FAILED' || saysFailure(ended));
  return isOver ? upgradeAnswered() : { kind: 'pending' };
}

function saysFailure({ durationMs, baselineVersion }: EndedCall): boolean {
  return durationMs >= downloadBeginsMs && !(baselineVersion !== undefined && answersAtOnce.test(baselineVersion));
}

function upgradeAnswered(): DecidedVerification {
  return didNotStart(answeredUpgrade);
}
