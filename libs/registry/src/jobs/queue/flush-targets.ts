/** Flushing: the ends of attempts, hundreds in one statement, with their results stored once per distinct body. */
import { createHash } from 'node:crypto';
import type { DeviceId, ToolResult } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { JobFence, TargetFlush } from '../job-types.js';
import { countMoved, counterOf, SHARD } from './counter-sql.js';

/** Bytes of a target's result that are kept: jobs multiply what a device says by the fleet. */
const RESULT_BYTES_MAX = 8 * 1024;

/** Hex digits of a result's hash: 128 bits tell bodies of one job apart. */
const RESULT_HASH_DIGITS = 32;

/**
 * Rows that are no longer in flight under the same claim number stay as they are: an end is recorded once, and a process that lost the job changes
 * nothing. Most targets of a batch end alike, so each distinct end is sent once and the rows point to theirs. Resolves to the number of rows changed.
 */
export async function flushTargets(db: Queryable, fence: JobFence, flushes: readonly TargetFlush[]): Promise<number> {
  if (flushes.length === 0) return 0;
  const values = valuesOf(fence, flushes);
  let count = 0;
  for (let pass = 1; count < flushes.length; pass += 1) {
    const rows = await db.query<{ count: number }>(FLUSH, values);
    const changed = rows[0]?.count ?? 0;
    count += changed;
    // A row that `markSent` moved in the moment between look and write is met the next time round, also where it was the only one.
    if (pass > 1 && changed === 0) break;
  }
  return count;
}

/**
 * Each target is looked up by its key before any is written. In one join with the update PostgreSQL may take the end of the query that its statistics call
 * shorter, which are those of minutes ago: they know nothing of targets in flight, and a batch cost a second and more in place of 20 ms. For the same reason
 * the write takes the job from the rows that were found: given as a parameter, it would be a way to the rows of its own. The limit of one tells that a key is in one
 * partition only; without it a plan for all batches looks dearer than a new one for each, of 2 ms.
 */
const FLUSH = {
  name: 'job-flush',
  text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     stored AS (
       INSERT INTO job_result (job_id, hash, result) SELECT $1, body.hash, body.result::jsonb
       FROM fenced, unnest($3::text[], $4::text[]) AS body(hash, result) ON CONFLICT DO NOTHING),
     ends AS MATERIALIZED (
       SELECT * FROM unnest($5::target_state[], $6::outcome[], $7::send_certainty[], $8::text[], $9::text[], $10::int[], $11::text[], $12::bool[])
         WITH ORDINALITY AS e(state, outcome, certainty, error_code, error_message, rpc_code, result_hash, is_end, end_place)),
     found AS MATERIALIZED (
       SELECT j.id AS job_id, t.place, r.started_at, r.at, r.retry_at, r.verify_deadline_at, r.soft_deadline_at, e.* FROM fenced j, ends e
       JOIN unnest($13::text[], $14::int[], $15::int[], $16::float8[], $17::float8[], $18::float8[], $19::float8[], $20::float8[])
         AS r(device_id, claim, end_place, started_at, at, retry_at, verify_deadline_at, soft_deadline_at) USING (end_place)
       CROSS JOIN LATERAL (
         SELECT t.ctid AS place FROM job_target t
         WHERE t.job_id = $1 AND t.device_id = r.device_id AND t.claim = r.claim AND t.state IN ('DISPATCHING', 'SENT') LIMIT 1) AS t),
     updated AS (
       UPDATE job_target t SET
         state = f.state, outcome = f.outcome,
         certainty = CASE WHEN f.is_end THEN f.certainty WHEN t.attempts > 1 THEN 'MAYBE' END,
         verify_deadline_at = to_timestamp(f.verify_deadline_at / 1000), soft_deadline_at = to_timestamp(f.soft_deadline_at / 1000),
         attempts = t.attempts - (f.state IN ('READY', 'WAITING_DEVICE'))::int,
         call_id = CASE WHEN f.state IN ('DECIDED', 'VERIFYING') THEN t.call_id END,
         started_at = CASE WHEN f.state IN ('DECIDED', 'VERIFYING') THEN coalesce(to_timestamp(f.started_at / 1000), t.started_at) END,
         decided_at = CASE WHEN f.state = 'DECIDED' THEN to_timestamp(f.at / 1000) END,
         deadline_at = NULL, result_hash = f.result_hash, retry_at = to_timestamp(f.retry_at / 1000),
         error_code = CASE WHEN f.is_end THEN f.error_code ELSE t.error_code END,
         error_message = CASE WHEN f.is_end THEN f.error_message ELSE t.error_message END,
         rpc_code = CASE WHEN f.is_end THEN f.rpc_code ELSE t.rpc_code END
       FROM found f WHERE t.job_id = f.job_id AND t.ctid = f.place
       RETURNING t.wave, t.state, t.outcome),
     moved AS (SELECT wave, 'in_flight' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.flush)}
     SELECT count(*)::int AS count FROM updated`,
};

/** In the order of the statement's parameters. */
function valuesOf({ jobId, fence }: JobFence, flushes: readonly TargetFlush[]): unknown[] {
  const results = new Results();
  const ends = new Map<string, { readonly place: number; readonly end: End }>();
  const places = flushes.map(({ to }) => placeOf(endOf(to, results), ends));
  const distinct = [...ends.values()].map(({ end }) => end);
  return [
    ...[jobId, fence, results.hashes, results.bodies],
    ...END_COLUMNS.map((column) => distinct.map((end) => end[column])),
    flushes.map(({ deviceId }) => deviceId),
    numbers(flushes, ({ attempt }) => attempt),
    numbers(places, (place) => place),
    numbers(flushes, ({ startedAt }) => startedAt),
    numbers(flushes, ({ at }) => at),
    numbers(flushes, ({ to }) => dueAt(to)),
    numbers(flushes, ({ to }) => (to.kind === 'verifying' ? to.deadlineAt : undefined)),
    numbers(flushes, ({ to }) => (to.kind === 'verifying' ? to.softDeadlineAt : undefined)),
  ];
}

const STATES = {
  decided: 'DECIDED',
  verifying: 'VERIFYING',
  waiting: 'WAITING_DEVICE',
  ready: 'READY',
  retry: 'RETRY_WAIT',
} as const;

/** In the order of the statement's parameters. */
const END_COLUMNS = [
  'state',
  'outcome',
  'certainty',
  'errorCode',
  'errorMessage',
  'rpcCode',
  'resultHash',
  'isEnd',
] as const;

/** Everything about the end of an attempt but its times, as PostgreSQL takes it. */
type End = Readonly<Record<(typeof END_COLUMNS)[number], string | number | boolean | undefined>>;

function endOf(to: TargetFlush['to'], results: Results): End {
  // Whatever was sent has an end, and a target that was not keeps the error of its attempt before.
  const end = to.kind === 'decided' || to.kind === 'verifying' || to.kind === 'retry' ? to : undefined;
  const result = to.kind === 'decided' || to.kind === 'verifying' ? to.result : undefined;
  return {
    state: STATES[to.kind],
    outcome: to.kind === 'decided' ? to.outcome : undefined,
    certainty: end?.certainty,
    errorCode: end?.error?.code,
    errorMessage: end?.error && storable(end.error.message),
    rpcCode: end?.error?.rpcCode,
    resultHash: result && results.keep(result),
    isEnd: end !== undefined,
  };
}

/** When the target may be claimed again, or its value be read. */
function dueAt(to: TargetFlush['to']): number | undefined {
  return to.kind === 'ready' || to.kind === 'retry' ? to.notBefore : to.kind === 'verifying' ? to.readAt : undefined;
}

/** The place of the end among the distinct ones, counted from 1, as WITH ORDINALITY does. */
function placeOf(end: End, ends: Map<string, { readonly place: number; readonly end: End }>): number {
  const key = JSON.stringify(end);
  const known = ends.get(key);
  if (known !== undefined) return known.place;
  ends.set(key, { place: ends.size + 1, end });
  return ends.size;
}

/** An array as PostgreSQL reads it, as pg would look for something to escape in each number. Of nothing but gaps it is empty, which `unnest` fills up again. */
function numbers<Item>(items: readonly Item[], numberOf: (item: Item) => number | undefined): string {
  const found = items.map(numberOf);
  return found.every((number) => number === undefined)
    ? '{}'
    : `{${found.map((number) => number ?? 'NULL').join(',')}}`;
}

/** The distinct bodies of results, by their hashes. Targets that are answered alike cost one hash. */
export class Results {
  /** By what they say, before it is made fit to be stored. */
  readonly #found = new Map<string, { readonly hash: string; readonly body: string }>();

  /** The hash of a result, which is kept. */
  keep(result: ToolResult): string {
    const text = JSON.stringify(result);
    const known = this.#found.get(text);
    if (known !== undefined) return known.hash;
    const body = bodyOf(text, result);
    const hash = createHash('sha256').update(body).digest('hex').slice(0, RESULT_HASH_DIGITS);
    this.#found.set(text, { hash, body });
    return hash;
  }

  get hashes(): readonly string[] {
    return [...this.#found.values()].map(({ hash }) => hash);
  }

  get bodies(): readonly string[] {
    return [...this.#found.values()].map(({ body }) => body);
  }
}

/** JSON of the result; one that is too long is replaced by a text that says so and how it began. */
function bodyOf(text: string, { isError }: ToolResult): string {
  const body = storable(text);
  const bytes = Buffer.byteLength(body);
  if (bytes <= RESULT_BYTES_MAX) return body;
  const beginning = `[${bytes} bytes, of which a job keeps the first ${RESULT_BYTES_MAX / 4}] ${body.slice(0, RESULT_BYTES_MAX / 4)}`;
  return JSON.stringify({ content: [{ type: 'text', text: beginning }], isError });
}

/** PostgreSQL stores no NUL, neither in text nor in JSON. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').replaceAll('\\u0000', '');
}

/** Marks targets that are still unanswered as handed to the socket. Those that a flush is just writing are let be, so that the two never wait in a circle. */
export async function markSent(
  db: Queryable,
  { jobId, fence }: JobFence,
  deviceIds: readonly DeviceId[],
): Promise<void> {
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
