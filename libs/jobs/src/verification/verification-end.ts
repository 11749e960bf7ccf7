/** Where a target in VERIFYING goes once it is judged. */
import type { CallError, CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { Job } from '../job-types.js';
import { retryOfUpgrade } from './retry-upgrade.js';
import type { UpgradeRetry } from './retry-upgrade.js';
import type { DecidedVerification, VerificationEvidence, VerificationVerdict } from './verification-evidence.js';

/** A target in VERIFYING with what is known about its device. */
export interface VerifyingTarget extends VerificationEvidence {
  readonly deviceId: DeviceId;
  /** The claim number. It fences the end of the verification. */
  readonly claim: number;
  /** Attempts so far, without sends repeated because the hub cut the download. */
  readonly attempts: number;
  readonly callId: CallId;
  /** The gateway of the device's newest session. */
  readonly gatewayId: HubProcessId | undefined;
  /** How the call ended, where it had no answer. */
  readonly callError: CallError | undefined;
}

/** `again`: the upgrade is sent once more, and its error stays until that has ended. */
export interface VerificationEnd {
  readonly deviceId: DeviceId;
  readonly claim: number;
  readonly to:
    | ({ readonly kind: 'decided' } & DecidedVerification['decision'])
    | { readonly kind: 'again'; readonly retry: UpgradeRetry; readonly error: CallError };
}

export function endOfVerification(
  job: Pick<Job, 'maxAttempts' | 'state'>,
  target: VerifyingTarget,
  verdict: VerificationVerdict,
): VerificationEnd | undefined {
  if (verdict.kind === 'pending') return undefined;
  const { deviceId, claim, attempts } = target;
  const { error } = verdict.decision;
  const retry = retryOfUpgrade(target, verdict, { made: attempts, max: job.maxAttempts, jobState: job.state });
  if (error !== undefined && retry !== undefined) return { deviceId, claim, to: { kind: 'again', retry, error } };
  return { deviceId, claim, to: withRestartNote({ kind: 'decided', ...verdict.decision }) };
}

interface End {
  readonly kind: string;
  readonly error?: CallError | undefined;
}

/** A device whose upgrade failed may be stuck in it, where a restart helps. [xiaozhi §7.6] */
export function isStuck({ kind, error }: End): boolean {
  return kind === 'decided' && error?.code === 'UPDATE_DID_NOT_START_OR_FAILED';
}

const restartNote = 'The hub asks the device to restart, as it may be stuck in its upgrade.';

export function withRestartNote<Given extends End>(to: Given): Given {
  if (to.error === undefined || !isStuck(to)) return to;
  return { ...to, error: { ...to.error, message: `${to.error.message} ${restartNote}` } };
}
