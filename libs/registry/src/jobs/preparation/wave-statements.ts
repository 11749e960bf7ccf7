/** The steps from wave to wave: opening one, making its targets ready, and what its gate wants to know. */
import type { JobProgress, Wave } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { grouped } from '../../database/grouped.js';
import type { JobFence } from '../job-types.js';
import { countMoved, counterOf, SHARD } from '../queue/counter-sql.js';
import { COUNTER_COLUMNS, progressOf, type CounterRecord } from '../job-rows.js';
import { IS_ENDED, PLACED_ERROR, PLACED_OUTCOME, placedState } from '../queue/target-placement.js';

interface WaveRecord {
  readonly job_id: JobId;
  readonly number: number;
  readonly size: number;
  readonly gate: Wave['gate'];
  readonly success_threshold: number;
  readonly soak_seconds: number;
  readonly opened_at: Date | null;
  readonly closed_at: Date | null;
  readonly approved_by: string | null;
}

/** Each job's waves by number, in the order of the input. */
export async function readWaves(db: Queryable, ids: readonly JobId[]): Promise<readonly (readonly Wave[])[]> {
  const records = await db.query<WaveRecord & Record<string, unknown>>(
    {
      text: `SELECT job_id, number, size, gate, success_threshold, soak_seconds, opened_at, closed_at, approved_by
       FROM job_wave WHERE job_id = ANY ($1::uuid[]) ORDER BY job_id, number`,
    },
    [ids],
  );
  return grouped(ids, records, ({ job_id: id }) => id).map((waves) => waves.map(waveOf));
}

function waveOf(record: WaveRecord): Wave {
  return {
    number: record.number,
    size: record.size,
    gate: record.gate,
    successThreshold: record.success_threshold,
    soakSeconds: record.soak_seconds,
    openedAt: record.opened_at?.getTime(),
    closedAt: record.closed_at?.getTime(),
    approvedBy: record.approved_by ?? undefined,
  };
}

/** Progress of each wave that has targets, by its number; a job without waves has all of them in wave 1. In the order of the input. */
export async function readWaveProgress(
  db: Queryable,
  ids: readonly JobId[],
): Promise<readonly ReadonlyMap<number, JobProgress>[]> {
  const sums = COUNTER_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');
  const records = await db.query<CounterRecord & { readonly wave: number }>(
    {
      text: `SELECT job_id, wave, NULL AS total, ${sums} FROM job_counter WHERE job_id = ANY ($1::uuid[]) GROUP BY job_id, wave ORDER BY job_id, wave`,
    },
    [ids],
  );
  return grouped(ids, records, ({ job_id: id }) => id as JobId).map(
    (waves) => new Map(waves.map((record) => [record.wave, progressOf(record)])),
  );
}

/** Closes the open wave `from` (none where it is 0) and opens the next. False where another owner or an operator was faster. */
export async function openWave(db: Queryable, { jobId, fence }: JobFence, from: number, at: number): Promise<boolean> {
  const rows = await db.query<{ id: string }>(
    {
      text: `WITH moved AS (
       UPDATE job SET current_wave = $3 + 1 WHERE id = $1 AND fence = $2 AND state = 'RUNNING' AND current_wave = greatest($3, 1) RETURNING id),
     closed AS (UPDATE job_wave SET closed_at = $4 FROM moved WHERE job_id = $1 AND number = $3),
     opened AS (UPDATE job_wave SET opened_at = $4 FROM moved WHERE job_id = $1 AND number = $3 + 1 AND opened_at IS NULL)
     SELECT id FROM moved`,
    },
    [jobId, fence, from, new Date(at)],
  );
  return rows.length > 0;
}

/** Up to `limit` PENDING targets of opened waves become READY, or wait for their device. Resolves to how many moved; 0 when all have. */
export async function openTargets(
  db: Queryable,
  { jobId, fence }: JobFence,
  limit: number,
  at: number,
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    {
      text: `WITH fenced AS (SELECT current_wave, offline FROM job WHERE id = $1 AND fence = $2 AND state = 'RUNNING' FOR SHARE),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place, t.device_id FROM fenced f, job_target t
       WHERE t.job_id = $1 AND t.indexed_state = 'PENDING' AND t.wave <= f.current_wave LIMIT $3 FOR UPDATE OF t SKIP LOCKED),
     located AS (
       SELECT p.place, f.offline, d.id IS NULL AS is_gone, (d.online AND g.lease_until > now()) IS TRUE AS is_online
       FROM fenced f, picked p LEFT JOIN device d ON d.id = p.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id),
     updated AS (
       UPDATE job_target t SET state = ${placedState('READY')}, outcome = ${PLACED_OUTCOME}, ${PLACED_ERROR},
         certainty = CASE WHEN ${IS_ENDED} THEN 'NEVER'::send_certainty END, decided_at = CASE WHEN ${IS_ENDED} THEN $4::timestamptz END
       FROM located l WHERE t.job_id = $1 AND t.ctid = l.place RETURNING t.wave, t.state, t.outcome),
     moved AS (SELECT wave, 'pending' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.open)}
     SELECT count(*)::int AS count FROM updated`,
    },
    [jobId, fence, limit, new Date(at)],
  );
  return rows[0]?.count ?? 0;
}

/** When the latest target of the wave was decided, ms since the Unix epoch. */
export async function lastDecidedAt(db: Queryable, { jobId }: JobFence, wave: number): Promise<number | undefined> {
  const rows = await db.query<{ at: Date | null }>(
    { text: `SELECT max(decided_at) AS at FROM job_target WHERE job_id = $1 AND wave = $2 AND state = 'DECIDED'` },
    [jobId, wave],
  );
  return rows[0]?.at?.getTime();
}
