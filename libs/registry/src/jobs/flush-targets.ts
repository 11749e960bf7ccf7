/** Flushing: the ends of attempts, hundreds in one statement, with their results stored once per distinct body. */
import { createHash } from 'node:crypto';
import type { DeviceId, ToolResult } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import type { JobFence, TargetFlush } from '../job-store.js';
import { countMoved, counterOf, SHARD } from './counter-sql.js';

/** Bytes of a target's result that are kept: jobs multiply what a device says by the fleet. */
const RESULT_BYTES_MAX = 8 * 1024;

/** Hex digits of a result's hash: 128 bits tell bodies of one job apart. */
const RESULT_HASH_DIGITS = 32;

/**
 * Rows that are no longer in flight under the same claim number stay as they are: an end is recorded once, and a process that lost the job changes
 * nothing. Resolves to the number of rows changed.
 */
export async function flushTargets(db: Queryable, { jobId, fence }: JobFence, flushes: readonly TargetFlush[]): Promise<number> {
  if (flushes.length === 0) return 0;
  const results = new Map<string, string>();
  const columns = columnsOf(flushes, results);
  const rows = await db.query<{ count: number }>(
    {
      name: 'job-flush',
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     stored AS (
       INSERT INTO job_result (job_id, hash, result) SELECT $1, body.hash, body.result::jsonb
       FROM fenced, unnest($3::text[], $4::text[]) AS body(hash, result) ON CONFLICT DO NOTHING),
     updated AS (
       UPDATE job_target t SET
         state = f.state::target_state, outcome = f.outcome::outcome,
         certainty = CASE WHEN f.is_end THEN f.certainty::send_certainty WHEN t.attempts > 1 THEN 'MAYBE' END,
         verify_deadline_at = f.verify_deadline_at, soft_deadline_at = f.soft_deadline_at,
         attempts = t.attempts - (f.state IN ('READY', 'WAITING_DEVICE'))::int,
         call_id = CASE WHEN f.state IN ('DECIDED', 'VERIFYING') THEN t.call_id END,
         started_at = CASE WHEN f.state IN ('DECIDED', 'VERIFYING') THEN coalesce(f.started_at, t.started_at) END,
         decided_at = CASE WHEN f.state = 'DECIDED' THEN f.at END,
         deadline_at = NULL, result_hash = f.result_hash, retry_at = f.retry_at,
         error_code = CASE WHEN f.is_end THEN f.error_code ELSE t.error_code END,
         error_message = CASE WHEN f.is_end THEN f.error_message ELSE t.error_message END,
         rpc_code = CASE WHEN f.is_end THEN f.rpc_code ELSE t.rpc_code END
       FROM fenced, unnest($5::text[], $6::int[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::int[], $13::text[], $14::timestamptz[], $15::timestamptz[], $16::timestamptz[],
         $17::timestamptz[], $18::timestamptz[], $19::bool[])
         AS f(device_id, claim, state, outcome, certainty, error_code, error_message, rpc_code, result_hash, started_at, at, retry_at, verify_deadline_at, soft_deadline_at, is_end)
       WHERE t.job_id = $1 AND t.device_id = f.device_id AND t.claim = f.claim AND t.state IN ('DISPATCHING', 'SENT')
       RETURNING t.wave, t.state, t.outcome),
     moved AS (SELECT wave, 'in_flight' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.flush)}
     SELECT count(*)::int AS count FROM updated`,
    },
    [jobId, fence, [...results.keys()], [...results.values()], ...columns],
  );
  return rows[0]?.count ?? 0;
}

const STATES = { decided: 'DECIDED', verifying: 'VERIFYING', waiting: 'WAITING_DEVICE', ready: 'READY', retry: 'RETRY_WAIT' } as const;

/** The flushes column by column, as `unnest` wants them; the distinct result bodies go into `results`. */
function columnsOf(flushes: readonly TargetFlush[], results: Map<string, string>): readonly unknown[][] {
  // Whatever was sent has an end, and a target that was not keeps the error of its attempt before.
  const ends = flushes.map(({ to }) => (to.kind === 'decided' || to.kind === 'verifying' || to.kind === 'retry' ? to : undefined));
  const kept = flushes.map(({ to }) => (to.kind === 'decided' || to.kind === 'verifying' ? to : undefined));
  const verifying = flushes.map(({ to }) => (to.kind === 'verifying' ? to : undefined));
  return [
    flushes.map((flush) => flush.deviceId),
    flushes.map((flush) => flush.attempt),
    flushes.map((flush) => STATES[flush.to.kind]),
    flushes.map(({ to }) => (to.kind === 'decided' ? to.outcome : undefined)),
    ends.map((to) => to?.certainty),
    ends.map((to) => to?.error?.code),
    ends.map((to) => to?.error && storable(to.error.message)),
    ends.map((to) => to?.error?.rpcCode),
    kept.map((to) => to?.result && keepResult(to.result, results)),
    flushes.map((flush) => timeOf(flush.startedAt)),
    flushes.map((flush) => new Date(flush.at)),
    flushes.map(({ to }) =>
      timeOf(to.kind === 'ready' || to.kind === 'retry' ? to.notBefore : to.kind === 'verifying' ? to.readAt : undefined),
    ),
    verifying.map((to) => timeOf(to?.deadlineAt)),
    verifying.map((to) => timeOf(to?.softDeadlineAt)),
    ends.map((to) => to !== undefined),
  ];
}

function timeOf(at: number | undefined): Date | undefined {
  return at === undefined ? undefined : new Date(at);
}

export function keepResult(result: ToolResult, results: Map<string, string>): string {
  const body = bodyOf(result);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, RESULT_HASH_DIGITS);
  results.set(hash, body);
  return hash;
}

/** JSON of the result; one that is too long is replaced by a text that says so and how it began. */
function bodyOf(result: ToolResult): string {
  const body = storable(JSON.stringify(result));
  const bytes = Buffer.byteLength(body);
  if (bytes <= RESULT_BYTES_MAX) return body;
  const text = `[${bytes} bytes, of which a job keeps the first ${RESULT_BYTES_MAX / 4}] ${body.slice(0, RESULT_BYTES_MAX / 4)}`;
  return JSON.stringify({ content: [{ type: 'text', text }], isError: result.isError });
}

/** PostgreSQL stores no NUL, neither in text nor in JSON. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').replaceAll('\\u0000', '');
}

/** Marks targets that are still unanswered as handed to the socket. Those that a flush is just writing are let be, so that the two never wait in a circle. */
export async function markSent(db: Queryable, { jobId, fence }: JobFence, deviceIds: readonly DeviceId[]): Promise<void> {
  await db.query(
    {
      text: `WITH picked AS MATERIALIZED (
       SELECT t.ctid AS place FROM job j JOIN job_target t ON t.job_id = j.id AND t.state = 'DISPATCHING' AND t.device_id = ANY ($3)
       WHERE j.id = $1 AND j.fence = $2 FOR UPDATE OF t SKIP LOCKED)
     UPDATE job_target t SET state = 'SENT', certainty = 'YES' FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place`,
    },
    [jobId, fence, deviceIds],
  );
}
