/** Inserts the rows of new jobs. */
import type { Queryable } from '../../database/database.js';
import type { ResolvedFilter } from '../../device-filter.js';
import { resolveFilter } from '../../groups/resolve-filter.js';
import type { NewJob } from './new-job.js';
import { RegistryError } from '../../registry-error.js';
import type { ArgumentSeal } from '../../secrets/argument-seal.js';
import { fixApprovalTargets } from './approval-targets.js';
import { JOB_COLUMNS, type JobRecord } from '../job-rows.js';

/**
 * Undefined if the creator has used the idempotency key before. Groups are resolved now: later
 * changes do not affect the job.
 */
async function insertJob(db: Queryable, job: NewJob, seal: ArgumentSeal): Promise<JobRecord | undefined> {
  const devices = await resolveFilter(db, job.devices);
  const columns = { ...columnsOf(job, devices), ...sealedColumns(job, seal) };
  const names = Object.keys(columns);
  const rows = await db.query<JobRecord>(
    {
      text: `INSERT INTO job (${names.join(', ')}) VALUES (${names.map((_name, index) => `$${index + 1}`).join(', ')})
       ON CONFLICT (created_by_id, idempotency_key) DO NOTHING RETURNING ${JOB_COLUMNS}`,
    },
    Object.values(columns),
  );
  const [inserted] = rows;
  return inserted !== undefined && job.state === 'AWAITING_APPROVAL' ? fixApprovalTargets(db, job, devices) : inserted;
}

/**
 * False if an image of the jobs was deleted. Locks the images: a transaction that deletes one waits
 * and then finds the job.
 */
export async function holdImages(db: Queryable, jobs: readonly Pick<NewJob, 'firmwareImageId'>[]): Promise<boolean> {
  const ids = new Set(jobs.flatMap(({ firmwareImageId }) => firmwareImageId ?? []));
  if (ids.size === 0) return true;
  const held = await db.query({ text: 'SELECT FROM firmware_image WHERE id = ANY($1::uuid[]) FOR KEY SHARE' }, [
    [...ids],
  ]);
  return held.length === ids.size;
}

/**
 * Inserts all jobs, or none if the idempotency key of the first was used before. Waits for a
 * transaction that is using it.
 */
export async function insertJobs(
  db: Queryable,
  jobs: readonly NewJob[],
  seal: ArgumentSeal,
): Promise<readonly JobRecord[]> {
  const records: JobRecord[] = [];
  for (const job of jobs) {
    const record = await insertJob(db, job, seal);
    if (record !== undefined) records.push(record);
    else if (records.length === 0) return [];
    else
      throw new RegistryError(
        'DATABASE_REFUSED',
        `The idempotency key of job ${job.id} is in use, but the keys of the jobs before it are not.`,
      );
  }
  return records;
}

/** JSON is passed as text, because pg would turn an array into one of PostgreSQL. */
function columnsOf(job: NewJob, devices: ResolvedFilter): Readonly<Record<string, unknown>> {
  return {
    id: job.id,
    name: job.name,
    tool: job.tool,
    devices: JSON.stringify(devices),
    state: job.state,
    offline: job.offline,
    expires_at: new Date(job.expiresAt),
    call_timeout_ms: job.callTimeoutMs,
    max_in_flight: job.maxInFlight,
    idempotent: job.idempotent,
    disruptive: job.disruptive,
    disconnect_expected: job.disconnectExpected,
    failure_text: job.failureText,
    verification: job.verification,
    readback: job.readback && JSON.stringify(job.readback),
    max_attempts: job.maxAttempts,
    skip_if_satisfied: job.skipIfSatisfied,
    per_minute: job.perMinute,
    priority: job.priority,
    waves: JSON.stringify(job.waves),
    abort_rules: JSON.stringify(job.abortRules),
    health_gate: job.healthGate && JSON.stringify(job.healthGate),
    start_at: job.startAt === undefined ? undefined : new Date(job.startAt),
    daily_window: job.window && JSON.stringify(job.window),
    firmware_image_id: job.firmwareImageId,
    parent_job_id: job.parentJobId,
    recurring_job_id: job.recurringJobId,
    created_by: job.createdBy,
    created_by_id: job.createdById,
    created_by_owner: job.createdByOwner,
    may_call_user_only: job.mayCallUserOnly,
    idempotency_key: job.idempotencyKey,
    created_at: new Date(job.createdAt),
  };
}

function sealedColumns(
  { id, tool, arguments: args, requestHash }: NewJob,
  seal: ArgumentSeal,
): Readonly<Record<string, unknown>> {
  const { shown, sealed } = seal.seal(id, tool, args);
  return {
    arguments: JSON.stringify(shown),
    secret_arguments: sealed,
    request_hash: seal.storedHash(requestHash, tool, args),
  };
}
