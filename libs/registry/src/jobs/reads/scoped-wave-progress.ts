/** The progress of jobs over the targets in an access scope, counted from the rows. */
import type { JobProgress } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { targetScopeOf } from '../../access-scope/history-scope.js';
import type { Queryable } from '../../database/database.js';
import { COUNTER_COLUMNS, progressOf, type CounterColumn } from '../job-rows.js';
import type { JobScope } from '../job-scope.js';

/** By wave number, in the order of the input. */
export async function countWaveProgress(
  db: Queryable,
  ids: readonly JobId[],
  scope: JobScope,
): Promise<readonly ReadonlyMap<number, JobProgress>[]> {
  const parameters: unknown[] = [ids];
  const isInScope = (await targetScopeOf(db, scope))(parameters);
  const rows = await db.query<{
    readonly job_id: JobId;
    readonly wave: number;
    readonly counter: CounterColumn;
    readonly count: number;
  }>(
    {
      text: `SELECT t.job_id, t.wave, target_counter(t.state, t.outcome) AS counter, count(*)::int AS count
        FROM job_target t WHERE t.job_id = ANY ($1::uuid[]) AND ${isInScope} GROUP BY 1, 2, 3 ORDER BY 1, 2`,
    },
    parameters,
  );
  const none = Object.fromEntries(COUNTER_COLUMNS.map((column) => [column, 0])) as Record<CounterColumn, number>;
  const byJob = new Map(ids.map((id) => [id, new Map<number, Record<CounterColumn, number>>()]));
  for (const { job_id: id, wave, counter, count } of rows) {
    const waves = byJob.get(id);
    waves?.set(wave, { ...(waves.get(wave) ?? none), [counter]: count });
  }
  return ids.map((id) => {
    const waves = byJob.get(id) ?? new Map<number, Record<CounterColumn, number>>();
    return new Map([...waves].map(([wave, counts]) => [wave, progressOf({ ...counts, job_id: id, total: null })]));
  });
}
