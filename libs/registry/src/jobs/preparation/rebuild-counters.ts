/** The counters of a job, computed from its targets. */
import type { JobId } from '@flotilla/mcp';
import type { Database, Queryable } from '../../database/database.js';
import { COUNTER_COLUMNS } from '../job-rows.js';

/** Replaces the counters by the counts of the rows. */
export async function rebuildCounters(db: Queryable, jobId: string): Promise<void> {
  await db.query({ text: 'DELETE FROM job_counter WHERE job_id = $1' }, [jobId]);
  const counts = COUNTER_COLUMNS.map((column) => `count(*) FILTER (WHERE counter = '${column}')`).join(', ');
  await db.query(
    {
      text: `INSERT INTO job_counter (job_id, wave, shard, ${COUNTER_COLUMNS.join(', ')})
       SELECT $1, wave, 0, ${counts}
       FROM (SELECT wave, target_counter(state, outcome) AS counter FROM job_target WHERE job_id = $1) AS counted
       GROUP BY wave`,
    },
    [jobId],
  );
}

/**
 * Counts the rows and corrects the counters if they differ. Resolves to the sum of the differences.
 */
export function reconcileCounters(db: Database, id: JobId): Promise<number> {
  return db.transaction(async (transaction) => {
    await transaction.query({ text: 'SELECT id FROM job WHERE id = $1 FOR UPDATE' }, [id]);
    const drift = await driftOf(transaction, id);
    if (drift > 0) await rebuildCounters(transaction, id);
    return drift;
  });
}

/** The sum of the differences between counters and rows, over waves and counters. */
async function driftOf(db: Queryable, id: JobId): Promise<number> {
  const sums = COUNTER_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');
  const pairs = COUNTER_COLUMNS.map((column) => `('${column}', ${column})`).join(', ');
  const [row] = await db.query<{ drift: number }>(
    {
      text: `WITH truth AS (
         SELECT wave, target_counter(state, outcome) AS counter, count(*) AS count
         FROM job_target WHERE job_id = $1 GROUP BY 1, 2),
       counted AS (
         SELECT s.wave, p.counter, p.count
         FROM (SELECT wave, ${sums} FROM job_counter WHERE job_id = $1 GROUP BY wave) AS s
         CROSS JOIN LATERAL (VALUES ${pairs}) AS p(counter, count))
       SELECT coalesce(sum(abs(coalesce(truth.count, 0) - coalesce(counted.count, 0))), 0)::int AS drift
       FROM truth FULL JOIN counted ON counted.wave = truth.wave AND counted.counter = truth.counter`,
    },
    [id],
  );
  return row?.drift ?? 0;
}
