/** The runs of a recurring job that may not be under way when another one is created. */
import type { Queryable } from '../../database/database.js';
import { JOB_COLUMNS, type JobRecord } from '../job-rows.js';
import type { NewJob } from './new-job.js';

/**
 * The latest unfinished run beside which the job must not be created. Undefined without one, and
 * for a used idempotency key, whose job is returned.
 */
export async function findOtherRun(transaction: Queryable, job: NewJob): Promise<JobRecord | undefined> {
  const { besideRuns, createdById, idempotencyKey, recurringJobId } = job;
  if (recurringJobId === undefined || besideRuns === undefined) return undefined;
  // A separate statement, because the snapshot of the next must be younger than the lock.
  await transaction.query({ text: 'SELECT FROM recurring_job WHERE id = $1 FOR UPDATE' }, [recurringJobId]);
  const [other] = await transaction.query<JobRecord>(
    {
      text: `SELECT ${JOB_COLUMNS} FROM job
        WHERE recurring_job_id = $1 AND state <> 'FINISHED' AND id <> ALL ($2::uuid[])
          AND NOT EXISTS (SELECT FROM job used WHERE used.created_by_id = $3 AND used.idempotency_key = $4)
        ORDER BY id DESC LIMIT 1`,
    },
    [recurringJobId, besideRuns, createdById, idempotencyKey],
  );
  return other;
}
