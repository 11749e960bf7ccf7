/** Ending targets in bulk, without an answer: never-sent ones when a job is cancelled or expires, in-flight ones when nobody waits for them any more. */
import type { VerificationDeadlines } from '@flotilla/jobs';
import type { CallError, DeviceId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { BulkEnd, JobFence, JobStore } from '../job-types.js';
import { countMoved, counterOf, SHARD } from './counter-sql.js';
import { LATEST_END } from './target-placement.js';

/** Targets per statement: long enough to be cheap, short enough that nobody waits for its locks. */
const CHUNK_TARGETS = 10_000;

/** Devices named of those whose targets ended, for who follows the job: as many as wait for a subscriber. */
const NAMED_MAX = 1_000;

/** Count and names over the rows of `updated`. */
const ENDED = `count(*)::int AS count, coalesce((array_agg(device_id))[1:${NAMED_MAX}], '{}') AS named`;

interface EndedRecord {
  readonly count: number;
  readonly named: readonly DeviceId[];
}

function bulkEndOf(records: readonly EndedRecord[]): BulkEnd {
  return {
    count: records.reduce((sum, { count }) => sum + count, 0),
    deviceIds: records.flatMap(({ named }) => named).slice(0, NAMED_MAX),
  };
}

/** States in which nothing is under way, each with a partial index of its own or a share in one. */
const NEVER_SENT = ['READY', 'WAITING_DEVICE', 'PENDING', 'RETRY_WAIT'] as const;

const COUNTER_OF = {
  READY: 'pending',
  WAITING_DEVICE: 'waiting_device',
  PENDING: 'pending',
  RETRY_WAIT: 'pending',
} as const;

/** What was sent before and waited for another try keeps the end of its latest attempt. */
export async function endNeverSent(
  db: Queryable,
  fence: JobFence,
  outcome: 'CANCELLED' | 'EXPIRED',
  at: number,
): Promise<BulkEnd> {
  const chunks: EndedRecord[] = [];
  for (const state of NEVER_SENT) {
    for (
      let chunk = await endChunk(db, fence, { state, outcome, at });
      chunk.count > 0;
      chunk = await endChunk(db, fence, { state, outcome, at })
    )
      chunks.push(chunk);
  }
  return bulkEndOf(chunks);
}

interface ChunkEnd {
  readonly state: (typeof NEVER_SENT)[number];
  readonly outcome: string;
  readonly at: number;
}

/** The state is asked for twice and no row is locked before: whoever changes one in between keeps what it did, and a lock costs as much as half a write. */
async function endChunk(
  db: Queryable,
  { jobId, fence }: JobFence,
  { state, outcome, at }: ChunkEnd,
): Promise<EndedRecord> {
  const rows = await db.query<EndedRecord>(
    {
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place FROM fenced, job_target t WHERE t.job_id = $1 AND t.indexed_state = '${state}' AND t.state = '${state}' LIMIT ${CHUNK_TARGETS}),
     updated AS (
       UPDATE job_target t SET state = 'DECIDED', outcome = CASE WHEN t.attempts > 0 THEN ${LATEST_END} ELSE $3 END::outcome,
         certainty = coalesce(t.certainty, 'NEVER'), decided_at = $4, retry_at = NULL
       FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place AND t.state = '${state}' RETURNING t.device_id, t.wave, t.state, t.outcome),
     moved AS (SELECT wave, '${COUNTER_OF[state]}' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.end)}
     SELECT ${ENDED} FROM updated`,
    },
    [jobId, fence, outcome, new Date(at)],
  );
  return rows[0] ?? { count: 0, named: [] };
}

/** Sent or about to be, as the indexes know them: a claim has left its targets in the index of those that are READY. */
const IN_FLIGHT = `((t.indexed_state = 'READY' AND t.state = 'DISPATCHING') OR t.indexed_state = 'SENT')`;

/** In-flight targets may have run: they end UNKNOWN, also those that are being verified. */
export async function endInFlight(
  db: Queryable,
  { jobId, fence }: JobFence,
  error: CallError,
  at: number,
): Promise<BulkEnd> {
  const rows = await db.query<EndedRecord>(
    {
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place, t.state FROM fenced, job_target t
       WHERE t.job_id = $1 AND (${IN_FLIGHT} OR t.indexed_state = 'VERIFYING') FOR UPDATE OF t),
     updated AS (
       UPDATE job_target t SET state = 'DECIDED', outcome = 'UNKNOWN', certainty = 'MAYBE', decided_at = $3, error_code = $4, error_message = $5
       FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING t.device_id, t.wave, p.state),
     moved AS (SELECT wave, ${counterOf('state', 'NULL')} AS counter_before, 'unknown' AS counter_after FROM updated),
     ${countMoved(SHARD.end)}
     SELECT ${ENDED} FROM updated`,
    },
    [jobId, fence, new Date(at), error.code, error.message],
  );
  return bulkEndOf(rows);
}

/**
 * What a former owner left in flight: whether it was sent cannot be told. Tools that may run twice go back in line with their attempt counted, and
 * with what it ended in, should no other follow; those with a verification are judged by what their devices do; all others end UNKNOWN and are never sent
 * again.
 */
export async function recoverTargets(
  db: Queryable,
  { jobId, fence }: JobFence,
  at: number,
  { deadlineMs, softMs }: VerificationDeadlines,
): ReturnType<JobStore['recover']> {
  const rows = await db.query<{ resent: number; verifying: number; unknown: number; unknownDeviceIds: DeviceId[] }>(
    {
      text: `WITH fenced AS (
       SELECT CASE WHEN idempotent THEN 'READY' WHEN verification <> 'NONE' THEN 'VERIFYING' ELSE 'DECIDED' END AS next,
         verification = 'READBACK' AS is_read FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     updated AS (
       UPDATE job_target t SET
         state = f.next::target_state, outcome = CASE WHEN f.next = 'DECIDED' THEN 'UNKNOWN' END::outcome,
         decided_at = CASE WHEN f.next = 'DECIDED' THEN $3::timestamptz END,
         error_code = 'HUB_RESTARTED', error_message = 'The hub stopped while this call was in flight; the device may have run it.',
         certainty = 'MAYBE', deadline_at = NULL, started_at = CASE WHEN f.next <> 'READY' THEN t.started_at END,
         retry_at = CASE WHEN f.next = 'VERIFYING' AND f.is_read THEN $3::timestamptz END,
         verify_deadline_at = CASE WHEN f.next = 'VERIFYING' THEN t.started_at + $4 * interval '1 millisecond' END,
         soft_deadline_at = CASE WHEN f.next = 'VERIFYING' THEN t.started_at + $5 * interval '1 millisecond' END
       FROM fenced f WHERE t.job_id = $1 AND ${IN_FLIGHT} RETURNING t.device_id, t.wave, t.state, t.outcome),
     moved AS (SELECT wave, 'in_flight' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.recover)}
     SELECT count(*) FILTER (WHERE state = 'READY')::int AS resent, count(*) FILTER (WHERE state = 'VERIFYING')::int AS verifying,
       count(*) FILTER (WHERE state = 'DECIDED')::int AS unknown,
       coalesce((array_agg(device_id) FILTER (WHERE state = 'DECIDED'))[1:${NAMED_MAX}], '{}') AS "unknownDeviceIds" FROM updated`,
    },
    [jobId, fence, new Date(at), deadlineMs, softMs ?? null],
  );
  return rows[0] ?? { resent: 0, verifying: 0, unknown: 0, unknownDeviceIds: [] };
}
