/**
 * The counters of a job move in the very statement that moves its targets: every such statement ends in a CTE `moved` with one row per target, its
 * wave, and its counter before (null for a new target) and after, and this CTE adds the differences up.
 */
import { COUNTER_COLUMNS } from '../job-rows.js';

/** The counter that a target in this state and outcome stands in. */
export function counterOf(state: string, outcome: string): string {
  return `CASE ${state}
    WHEN 'DECIDED' THEN lower(${outcome}::text)
    WHEN 'WAITING_DEVICE' THEN 'waiting_device'
    WHEN 'DISPATCHING' THEN 'in_flight'
    WHEN 'SENT' THEN 'in_flight'
    WHEN 'VERIFYING' THEN 'verifying'
    ELSE 'pending' END`;
}

/**
 * CTE `counted`: adds what `moved(wave, counter_before, counter_after)` says to one shard of the job's counters. Rows are locked in one order. Targets that
 * went the same way are counted first, so that the many counters are looked at once per way and not once per target: 0.4 instead of 2.6 µs each.
 */
export function countMoved(shard: number, jobId = '$1::uuid'): string {
  const difference = (column: string) =>
    `(coalesce(sum(targets) FILTER (WHERE counter_after = '${column}'), 0) - coalesce(sum(targets) FILTER (WHERE counter_before = '${column}'), 0))::int`;
  return `ways AS (
    SELECT ${jobId} AS job_id, wave, counter_before, counter_after, count(*) AS targets FROM moved GROUP BY 1, 2, 3, 4),
   counted AS (
    INSERT INTO job_counter (job_id, wave, shard, ${COUNTER_COLUMNS.join(', ')})
    SELECT job_id, wave, ${shard}, ${COUNTER_COLUMNS.map(difference).join(', ')} FROM ways GROUP BY job_id, wave ORDER BY job_id, wave
    ON CONFLICT (job_id, wave, shard) DO UPDATE SET ${COUNTER_COLUMNS.map((column) => `${column} = job_counter.${column} + EXCLUDED.${column}`).join(', ')})`;
}

/** Rows of counters per job, so that a claim, a flush and an operator's cancel do not wait for one another's row lock. */
export const SHARD = {
  prepare: 0,
  claim: 1,
  flush: 2,
  wake: 3,
  end: 4,
  recover: 5,
  verify: 6,
  open: 7,
  late: 8,
  offer: 9,
} as const;
