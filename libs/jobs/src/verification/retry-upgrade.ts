/**
 * Whether a failed upgrade is sent again: only if the device certainly runs its old firmware. [jobs
 * §7]
 */
import type { JobState } from '../job-types.js';
import { confirmedVersion } from './latest-sighting.js';
import type { VerificationEvidence, VerificationVerdict } from './verification-evidence.js';

/** Attempts of an upgrade on one device. */
const attemptsMax = 2;
/** Sends that may be repeated because of the hub: a second cut is for the operator to look at. */
const cutRetriesMax = 1;

/** `SAME_ATTEMPT`: the hub itself cut the download, so the repeated send is not counted. */
export type UpgradeRetry = 'NEXT_ATTEMPT' | 'SAME_ATTEMPT';

interface UpgradeAttempts {
  /** Attempts so far, and how many the job allows. */
  readonly made: number;
  readonly max: number;
  readonly jobState: JobState;
}

/** Undefined where the verdict is final. */
export function retryOfUpgrade(
  evidence: VerificationEvidence,
  verdict: VerificationVerdict,
  { made, max, jobState }: UpgradeAttempts,
): UpgradeRetry | undefined {
  if (verdict.kind !== 'decided' || verdict.decision.outcome !== 'VERIFY_FAILED') return undefined;
  const { baselineVersion, cutRetries, download } = evidence;
  if (baselineVersion === undefined || confirmedVersion(evidence) !== baselineVersion) return undefined;
  const isLive = jobState === 'RUNNING' || jobState === 'PAUSED';
  if (download === 'CUT' && cutRetries < cutRetriesMax && isLive) return 'SAME_ATTEMPT';
  const isApplied = verdict.decision.error?.code === 'NOT_APPLIED_OR_ROLLED_BACK';
  return isApplied && made < Math.min(max, attemptsMax) ? 'NEXT_ATTEMPT' : undefined;
}
