/** How many devices may fail before a job stops by itself, for people to see before they start it. [jobs §15] */
import { intentBatchMax } from '../intent-batch.js';
import type { Job } from '../job-types.js';
import { planWaves } from '../waves/plan-waves.js';
import type { AbortRule } from './abort-rule.js';
import { minDecidedDefault } from './evaluate-rules.js';

type PlannedJob = Pick<Job, 'abortRules' | 'waves' | 'idempotent' | 'maxInFlight'>;

/** Failures when the first rule trips, with what is in flight then and one batch whose intent is committed. All targets where no rule holds throughout. */
export function blastRadius(job: PlannedJob, targetCount: number): number {
  const waves = planWaves(targetCount, job.waves);
  const firstWave = waves[0]?.size ?? targetCount;
  const largestWave = Math.max(0, ...waves.map(({ size }) => size)) || targetCount;
  const failures = job.abortRules
    .filter(({ onlyWave }) => onlyWave === undefined || waves.length === 1)
    .map((rule) => failuresAtTrip(rule, rule.scope === 'WAVE' ? largestWave : targetCount, firstWave));
  return Math.min(targetCount, Math.min(targetCount, ...failures) + job.maxInFlight + intentBatchMax(job));
}

/** Until `minDecided` all may fail; from then on they are below the ratio until it is reached. */
function failuresAtTrip({ count, ratio, minDecided }: AbortRule, size: number, firstWave: number): number {
  const byRatio = ratio === undefined ? Infinity : Math.max(minDecided ?? Math.min(minDecidedDefault, firstWave), Math.ceil(ratio * size));
  return Math.min(count ?? Infinity, byRatio);
}
