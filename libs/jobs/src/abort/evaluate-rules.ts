/**
 * Whether a job has to stop, from its counters alone: a restarted hub decides the same. [jobs §15]
 */
import type { Job, JobProgress } from '../job-types.js';
import type { AbortOutcome, AbortRule, RuleCounts, TrippedRule } from './abort-rule.js';

/** What the rules of one job look at. */
interface RuleEvidence {
  readonly job: JobProgress;
  /** Progress of the open wave. */
  readonly wave: JobProgress;
  /** Targets of the job and of the open wave that are being verified and overdue already. */
  readonly overdue: { readonly job: number; readonly wave: number };
  /** 0 where the job has no waves. */
  readonly firstWaveSize: number;
}

type RuledJob = Pick<Job, 'abortRules' | 'trippedRule' | 'currentWave'>;

/** Decided targets that a rule waits for unless it has its own number. */
export const minDecidedDefault = 20;

const counterOf = {
  FAILED: 'failed',
  REJECTED: 'rejected',
  VERIFY_FAILED: 'verifyFailed',
  UNKNOWN: 'unknown',
  EXPIRED: 'expired',
} as const satisfies Record<AbortOutcome, keyof JobProgress>;

/** The first tripped rule, those that cancel before those that pause; undefined without one. */
export function findTrippedRule(job: RuledJob, evidence: RuleEvidence, at: number): TrippedRule | undefined {
  const seen = job.abortRules.map((rule) => countFor(rule, evidence));
  const tripped = job.abortRules.flatMap((rule, index) => {
    const counts = seen[index];
    if (counts === undefined || !isTripped(job, rule, since(counts, job, rule, index), evidence)) return [];
    return { rule, ...counts, wave: job.currentWave, at, seen };
  });
  return tripped.find(({ rule }) => rule.action === 'CANCEL') ?? tripped[0];
}

/**
 * What the rule counts. Neutral outcomes are left out, and so are devices that were never reached
 * unless the rule names EXPIRED.
 */
function countFor(rule: AbortRule, { job, wave, overdue }: RuleEvidence): RuleCounts {
  const counters = rule.scope === 'WAVE' ? wave : job;
  const { succeeded, rejected, verifyFailed, unknown, expired } = counters;
  const decided =
    succeeded + counters.failed + rejected + verifyFailed + unknown + (rule.outcomes.includes('EXPIRED') ? expired : 0);
  const failed = rule.outcomes.reduce((sum, outcome) => sum + counters[counterOf[outcome]], 0);
  if (!rule.outcomes.includes('UNKNOWN')) return { decided, failed };
  const late = overdue[rule.scope === 'WAVE' ? 'wave' : 'job'];
  return { decided, failed: failed + late, overdue: late, unknown };
}

/**
 * A resumed job is judged on later ends: the operator who resumed it has seen the earlier ones.
 * Devices that were overdue then count as seen where they are lost, but hide no other failure.
 */
function since(counts: RuleCounts, { trippedRule, currentWave }: RuledJob, rule: AbortRule, index: number): RuleCounts {
  const before = trippedRule?.seen[index];
  if (before === undefined || (rule.scope === 'WAVE' && trippedRule?.wave !== currentWave)) return counts;
  const { overdue: seenLate = 0, unknown: seenUnknown = 0 } = before;
  const { overdue: late = 0, unknown = 0 } = counts;
  const stillLost = Math.min(seenLate, late + unknown - seenUnknown);
  const failed = counts.failed - (before.failed - seenLate) - stillLost;
  return { decided: counts.decided - before.decided, failed: Math.max(0, failed) };
}

function isTripped(
  job: RuledJob,
  rule: AbortRule,
  { decided, failed }: RuleCounts,
  { job: progress, firstWaveSize }: RuleEvidence,
): boolean {
  if (rule.onlyWave !== undefined && rule.onlyWave !== job.currentWave) return false;
  if (rule.count !== undefined && failed >= rule.count) return true;
  if (rule.ratio === undefined) return false;
  const minDecided = rule.minDecided ?? Math.min(minDecidedDefault, firstWaveSize > 0 ? firstWaveSize : progress.total);
  return decided > 0 && decided >= minDecided && failed / decided >= rule.ratio;
}
