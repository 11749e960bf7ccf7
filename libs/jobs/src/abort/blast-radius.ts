/**
 * The blast radius: how many devices a job can affect before its rules stop it, if each fails.
 * [jobs §15] Counts devices that were sent the call. Slots bound the unanswered ones; only the open
 * wave and the pace bound those that are verified or wait for a retry.
 */
import { intentBatchMax } from '../intent-batch.js';
import type { Job } from '../job-types.js';
import { retryDelayMaxMs } from '../retry/retry-delay.js';
import { verificationDeadlines } from '../verification/verification-times.js';
import type { VerificationTimes } from '../verification/verification-times.js';
import { planWaves } from '../waves/plan-waves.js';
import type { PlannedWave } from '../waves/plan-waves.js';
import type { AbortOutcome, AbortRule } from './abort-rule.js';
import { minDecidedDefault } from './evaluate-rules.js';

type PlannedJob = Pick<
  Job,
  | 'abortRules'
  | 'callTimeoutMs'
  | 'firmwareImageId'
  | 'idempotent'
  | 'maxAttempts'
  | 'maxInFlight'
  | 'perMinute'
  | 'verification'
  | 'waves'
>;

/**
 * An upper bound over the targets that can be sent. All of them where nothing certainly stops the
 * job.
 */
export function blastRadius(job: PlannedJob, targets: number, times: VerificationTimes): number {
  const waves = planWaves(targets, job.waves);
  const byRule =
    failuresAtTrip(job, waves, targets) + job.maxInFlight + intentBatchMax(job) + undecidedWithoutSlot(job, times);
  return Math.min(targets, sizeUntilGate(waves) ?? targets, byRule);
}

/** Targets of the waves up to the first gate that does not open where everything fails. */
function sizeUntilGate(waves: readonly PlannedWave[]): number | undefined {
  const index = waves.slice(0, -1).findIndex(isGuarded);
  return index < 0 ? undefined : waves.slice(0, index + 1).reduce((sum, { size }) => sum + size, 0);
}

function isGuarded({ gate, successThreshold }: PlannedWave): boolean {
  return gate === 'MANUAL' || successThreshold > 0;
}

/** Failures at which the first rule trips that sees all of them. */
function failuresAtTrip(job: PlannedJob, waves: readonly PlannedWave[], targets: number): number {
  const ways: readonly AbortOutcome[] =
    job.verification === 'NONE' ? ['FAILED', 'UNKNOWN'] : ['FAILED', 'VERIFY_FAILED', 'UNKNOWN'];
  const [first] = waves;
  // The job stays in its first wave for as long as everything fails, or it has none.
  const isOneWave = waves.length <= 1 || (first !== undefined && isGuarded(first));
  const watching = job.abortRules.filter(
    ({ onlyWave, outcomes, scope }) =>
      ways.every((way) => outcomes.includes(way)) &&
      (isOneWave ? (onlyWave ?? 1) === 1 : onlyWave === undefined && scope === 'JOB'),
  );
  return Math.min(
    ...watching.map((rule) => Math.min(rule.count ?? Infinity, failuresAtRatio(rule, first?.size ?? targets))),
  );
}

function failuresAtRatio({ minDecided, ratio }: AbortRule, firstWave: number): number {
  return ratio === undefined ? Infinity : (minDecided ?? Math.min(minDecidedDefault, firstWave));
}

/** Sent, undecided and without a slot: what the pace allows until the first must be decided. */
function undecidedWithoutSlot(job: PlannedJob, times: VerificationTimes): number {
  const isRetried = job.idempotent && job.maxAttempts > 1;
  if (job.verification === 'NONE' && !isRetried) return 0;
  if (job.perMinute === undefined) return Infinity;
  const { deadlineMs } = verificationDeadlines(job.verification, times);
  const verifyMs = job.verification === 'NONE' ? 0 : deadlineMs + times.soakMs + times.rejoinMs;
  const tries = isRetried ? job.maxAttempts : 1;
  // An image whose download the hub cut is sent and verified once more, without a delay.
  const rounds = job.verification === 'FIRMWARE' && job.firmwareImageId !== undefined ? 2 : 1;
  const undecidedMs = rounds * (verifyMs + tries * job.callTimeoutMs) + retryDelayMaxMs(tries);
  return Math.ceil((job.perMinute * undecidedMs) / 60_000 + job.perMinute);
}
