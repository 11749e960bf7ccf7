/** Counting a job's rows where its counters should be checked. */
import type { JobId } from '@flotilla/mcp';
import type { Database, Queryable } from '../../database/database.js';
import { counterOf } from './counter-sql.js';
import { countByWave } from '../preparation/freeze-targets.js';
import { COUNTER_COLUMNS } from '../job-rows.js';

/** Counts the rows and, where the counters say something else, sets them right. Resolves to the sum of the differences. */
export function reconcileCounters(db: Database, id: JobId): Promise<number> {
  return db.transaction(async (transaction) => {
    await transaction.query({ text: 'SELECT id FROM job WHERE id = $1 FOR UPDATE' }, [id]);
    const drift = await driftOf(transaction, id);
    if (drift > 0) await countByWave(transaction, id);
    return drift;
  });
}

/** The sum over waves and counters of what each is away from its rows. */
async function driftOf(db: Queryable, id: JobId): Promise<number> {
  const sums = COUNTER_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');
  const pairs = COUNTER_COLUMNS.map((column) => `('${column}', ${column})`).join(', ');
  const [row] = await db.query<{ drift: number }>(
    {
      text: `WITH truth AS (
         SELECT wave, ${counterOf('state', 'outcome')} AS counter, count(*) AS count FROM job_target WHERE job_id = $1 GROUP BY 1, 2),
       counted AS (
         SELECT s.wave, p.counter, p.count FROM (SELECT wave, ${sums} FROM job_counter WHERE job_id = $1 GROUP BY wave) AS s
         CROSS JOIN LATERAL (VALUES ${pairs}) AS p(counter, count))
       SELECT coalesce(sum(abs(coalesce(truth.count, 0) - coalesce(counted.count, 0))), 0)::int AS drift
       FROM truth FULL JOIN counted ON counted.wave = truth.wave AND counted.counter = truth.counter`,
    },
    [id],
  );
  return row?.drift ?? 0;
}
