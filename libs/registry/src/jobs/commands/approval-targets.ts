/**
 * The devices that an approval covers. They are fixed when the job begins to wait: devices that
 * match the filter later are not approved, and devices that no longer match when the job starts are
 * left out.
 */
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { ResolvedFilter } from '../../device-filter.js';
import { deviceCondition } from '../../devices/device-condition.js';
import type { NewJob } from './new-job.js';
import { JOB_COLUMNS, type JobRecord } from '../job-rows.js';
import { rebuildCounters } from '../preparation/rebuild-counters.js';

/** Runs in the transaction that lets the job wait. */
export async function fixApprovalTargets(
  transaction: Queryable,
  { id }: Pick<NewJob, 'id'>,
  devices: ResolvedFilter,
): Promise<JobRecord | undefined> {
  const parameters: unknown[] = [id];
  const condition = deviceCondition(devices, parameters);
  const [job] = await transaction.query<JobRecord>(
    {
      text: `WITH fixed AS (
         INSERT INTO job_approval_target (job_id, device_id)
         SELECT $1::uuid, d.id FROM device d WHERE ${condition} RETURNING device_id)
       UPDATE job SET approval_targets = (SELECT count(*) FROM fixed) WHERE id = $1 RETURNING ${JOB_COLUMNS}`,
    },
    parameters,
  );
  return job;
}

/**
 * For a job that needs an approval although it was prepared: fixes its devices, and forgets the
 * targets, which are created again after the approval.
 */
export async function restartWithApproval(transaction: Queryable, id: JobId): Promise<JobRecord | undefined> {
  await transaction.query({ text: 'DELETE FROM job_target WHERE job_id = $1' }, [id]);
  await rebuildCounters(transaction, id);
  const [job] = await transaction.query<{ devices: ResolvedFilter }>(
    { text: `UPDATE job SET prepared_up_to = '', total = NULL WHERE id = $1 RETURNING devices` },
    [id],
  );
  return job && fixApprovalTargets(transaction, { id }, job.devices);
}

/** SQL: whether `device d` is approved. `jobId` is a parameter of the statement. */
export function isApproved(jobId: string): string {
  return `EXISTS (SELECT FROM job_approval_target a WHERE a.job_id = ${jobId}::uuid AND a.device_id = d.id)`;
}

/** Called once the job has its targets or has ended without them. */
export async function dropApprovalTargets(db: Queryable, jobId: string): Promise<void> {
  await db.query({ text: 'DELETE FROM job_approval_target WHERE job_id = $1' }, [jobId]);
}
