/**
 * Removes old finished jobs with their targets, results, counters, waves and downloads. A month of
 * targets that no other job needs is dropped as a partition; the rest is removed job by job. The
 * row of a job is removed last, so that a run after a crash finds the rest.
 */
import type { Database } from '../database/database.js';
import { lowestUuidOf } from '../database/uuid-v7.js';
import { dropPartition, partitionsOf } from './drop-partitions.js';
import { removeInBatches, ROWS_PER_STATEMENT } from './remove-in-batches.js';

/** $1: the time limit. A job stays while an unfinished job takes its targets from it. */
const EXPIRED = `(j.state = 'FINISHED' AND j.finished_at < $1
  AND NOT EXISTS (SELECT FROM job c WHERE c.parent_job_id = j.id AND c.state <> 'FINISHED'))`;

/** Maximum of jobs per run. The next run continues. */
const JOBS_MAX = 1_000;

export async function removeJobsBefore(database: Database, before: number, now: number): Promise<number> {
  await dropMonths(database, before, now);
  const expired = await database.query<{ id: string }>(
    { text: `SELECT j.id FROM job j WHERE ${EXPIRED} ORDER BY j.id LIMIT ${JOBS_MAX}` },
    [new Date(before)],
  );
  for (const { id } of expired) await removeJob(database, id);
  return expired.length;
}

/** Drops the months that are over and have no job that is still kept. */
async function dropMonths(database: Database, before: number, now: number): Promise<void> {
  for (const { name, from, until } of await partitionsOf(database, 'job_target')) {
    if (until > now) continue;
    const text = `SELECT 1 FROM job j WHERE j.id >= $2::uuid AND j.id < $3::uuid AND NOT ${EXPIRED} LIMIT 1`;
    const kept = await database.query({ text }, [new Date(before), lowestUuidOf(from), lowestUuidOf(until)]);
    if (kept.length === 0) await dropPartition(database, name);
  }
}

async function removeTargets(database: Database, id: string): Promise<void> {
  const text = `DELETE FROM job_target WHERE job_id = $1 AND device_id = ANY (ARRAY(
    SELECT t.device_id FROM job_target t WHERE t.job_id = $1 LIMIT ${ROWS_PER_STATEMENT})) RETURNING 1`;
  while ((await database.query({ text }, [id])).length === ROWS_PER_STATEMENT);
}

async function removeJob(database: Database, id: string): Promise<void> {
  await removeTargets(database, id);
  for (const table of ['job_result', 'download']) await removeInBatches(database, table, 'r.job_id = $1', [id]);
  await database.transaction(async (transaction) => {
    for (const table of ['job_counter', 'job_wave'])
      await transaction.query({ text: `DELETE FROM ${table} WHERE job_id = $1` }, [id]);
    await transaction.query({ text: 'DELETE FROM job WHERE id = $1' }, [id]);
  });
}
