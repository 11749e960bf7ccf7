/** The one statement that moves a job from state to state. */
import type { Job, JobState } from '@flotilla/jobs';
import type { Queryable } from '../database/database.js';
import type { JobMove } from '../job-store.js';
import { dropApprovalTargets } from './approval-targets.js';
import { JOB_COLUMNS, jobOf, type JobRecord } from './job-rows.js';

/** Compares and sets (state, version). */
export async function moveJob(
  transaction: Queryable,
  { id, version }: Pick<Job, 'id' | 'version'>,
  { state, pauseReason, conclusion, trippedRule, waveApprovedBy, approvedBy, isCancelForced }: JobMove,
  at: number,
): Promise<{ readonly from: JobState; readonly job: Job } | undefined> {
  const [record] = await transaction.query<JobRecord & { readonly former_state: JobState }>(
    {
      text: `WITH former AS (SELECT state AS former_state, current_wave AS former_wave FROM job WHERE id = $1 AND version = $2 FOR UPDATE),
       approved AS (UPDATE job_wave w SET approved_by = $8::text FROM former f WHERE $8::text IS NOT NULL AND w.job_id = $1 AND w.number = f.former_wave)
       UPDATE job SET state = $3::job_state, pause_reason = $4::pause_reason, conclusion = $5::job_conclusion, version = version + 1,
         started_at = CASE WHEN $3 = 'RUNNING' THEN coalesce(started_at, $6) ELSE started_at END,
         secret_arguments = CASE WHEN $3 <> 'FINISHED' THEN secret_arguments END,
         finished_at = CASE WHEN $3 = 'FINISHED' THEN $6::timestamptz END,
         tripped_rule = coalesce($7::jsonb, tripped_rule),
         approved_by = coalesce($9::text, approved_by),
         cancel_forced = cancel_forced OR $10::boolean
       FROM former WHERE id = $1 AND version = $2 RETURNING ${JOB_COLUMNS}, former_state`,
    },
    [
      id,
      version,
      state,
      pauseReason,
      conclusion,
      new Date(at),
      trippedRule && JSON.stringify(trippedRule),
      waveApprovedBy,
      approvedBy,
      isCancelForced ?? false,
    ],
  );
  if (record?.state === 'FINISHED' && record.approval_targets !== null) await dropApprovalTargets(transaction, id);
  return record && { from: record.former_state, job: jobOf(record) };
}
