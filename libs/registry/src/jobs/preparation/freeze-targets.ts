/** The end of preparation: the number of targets is fixed, and where the job goes out in waves each target gets its own. */
import type { PlannedWave } from '@flotilla/jobs';
import type { Database, Queryable } from '../../database/database.js';
import type { JobFence } from '../job-types.js';
import { dropApprovalTargets } from '../commands/approval-targets.js';
import { counterOf } from '../queue/counter-sql.js';
import { COUNTER_COLUMNS } from '../job-rows.js';

export async function countTargets(db: Queryable, { jobId, fence }: JobFence): Promise<number> {
  const rows = await db.query<{ count: number }>(
    {
      text: `SELECT count(t.job_id)::int AS count FROM job j LEFT JOIN job_target t ON t.job_id = j.id WHERE j.id = $1 AND j.fence = $2`,
    },
    [jobId, fence],
  );
  return rows[0]?.count ?? 0;
}

/** From here on all counters sum to the total. Resolves to it; to 0 where the job has another owner or moved on. May be repeated. */
export function freezeTargets(
  db: Database,
  { jobId, fence }: JobFence,
  waves: readonly PlannedWave[],
): Promise<number> {
  return db.transaction(async (transaction) => {
    const rows = await transaction.query<{ total: number }>(
      {
        text: `UPDATE job SET total = (SELECT count(*) FROM job_target WHERE job_id = $1)
         WHERE id = $1 AND fence = $2 AND state = 'PREPARING' RETURNING total`,
      },
      [jobId, fence],
    );
    const total = rows[0]?.total ?? 0;
    if (rows.length > 0) await dropApprovalTargets(transaction, jobId);
    if (total > 0 && waves.length > 0) {
      await insertWaves(transaction, jobId, waves);
      await assignWaves(transaction, jobId, waves);
      await countByWave(transaction, jobId);
    }
    return total;
  });
}

async function insertWaves(db: Queryable, jobId: string, waves: readonly PlannedWave[]): Promise<void> {
  await db.query({ text: 'DELETE FROM job_wave WHERE job_id = $1' }, [jobId]);
  await db.query(
    {
      text: `INSERT INTO job_wave (job_id, number, size, gate, success_threshold, soak_seconds)
       SELECT $1, w.* FROM unnest($2::int[], $3::int[], $4::wave_gate[], $5::float8[], $6::int[]) AS w`,
    },
    [
      jobId,
      waves.map(({ number }) => number),
      waves.map(({ size }) => size),
      waves.map(({ gate }) => gate),
      waves.map(({ successThreshold }) => successThreshold),
      waves.map(({ soakSeconds }) => soakSeconds),
    ],
  );
}

/** In the order of sending, but one target of each model and firmware in turn, so that the first wave shows what becomes of all kinds of devices. */
async function assignWaves(db: Queryable, jobId: string, waves: readonly PlannedWave[]): Promise<void> {
  const firstPlaces = waves.map(
    ({ number }) => 1 + waves.slice(0, number - 1).reduce((sum, { size }) => sum + size, 0),
  );
  await db.query(
    {
      text: `UPDATE job_target t SET wave = placed.wave FROM (
         SELECT place_of, width_bucket(row_number() OVER (ORDER BY turn, ordinal), $2::bigint[]) AS wave FROM (
           SELECT t.ctid AS place_of, t.ordinal, row_number() OVER (PARTITION BY d.model, d.firmware_version ORDER BY t.ordinal) AS turn
           FROM job_target t LEFT JOIN device d ON d.id = t.device_id WHERE t.job_id = $1) AS turns) AS placed
       WHERE t.job_id = $1 AND t.ctid = placed.place_of AND t.wave <> placed.wave`,
    },
    [jobId, firstPlaces],
  );
}

/** Writes the counters anew from the rows. */
export async function countByWave(db: Queryable, jobId: string): Promise<void> {
  await db.query({ text: 'DELETE FROM job_counter WHERE job_id = $1' }, [jobId]);
  const counts = COUNTER_COLUMNS.map((column) => `count(*) FILTER (WHERE counter = '${column}')`).join(', ');
  await db.query(
    {
      text: `INSERT INTO job_counter (job_id, wave, shard, ${COUNTER_COLUMNS.join(', ')})
       SELECT $1, wave, 0, ${counts} FROM (SELECT wave, ${counterOf('state', 'outcome')} AS counter FROM job_target WHERE job_id = $1) AS counted GROUP BY wave`,
    },
    [jobId],
  );
}
