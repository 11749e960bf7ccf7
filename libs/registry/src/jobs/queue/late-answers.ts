/** Answers that came after their targets had been given up: an UNKNOWN target learns once what became of its call. [jobs §3] */
import type { CallId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { CorrectedTarget, LateAnswer, LateTarget } from '../job-types.js';
import { countMoved, SHARD } from './counter-sql.js';
import { Results, storable } from './flush-targets.js';

interface LateRecord {
  readonly call_id: CallId;
  readonly failure_text: string | null;
  readonly verification: LateTarget['verification'];
}

/** Targets whose latest call is one of these and may still be corrected. */
export async function findLateTargets(db: Queryable, callIds: readonly CallId[]): Promise<readonly LateTarget[]> {
  const rows = await db.query<LateRecord & Record<string, unknown>>(
    {
      text: `SELECT t.call_id, j.failure_text, j.verification FROM job_target t JOIN job j ON j.id = t.job_id
       WHERE t.listed_call_id = ANY ($1::uuid[]) AND NOT t.late AND t.outcome = 'UNKNOWN'`,
    },
    [callIds],
  );
  return rows.map((row) => ({
    callId: row.call_id,
    failureText: row.failure_text ?? undefined,
    verification: row.verification,
  }));
}

/** Counters move by the difference in the same statement, also where the job has finished. Resolves to the targets that changed. */
export async function correctUnknown(
  db: Queryable,
  answers: readonly LateAnswer[],
): Promise<readonly CorrectedTarget[]> {
  const results = new Results();
  const hashes = answers.map(({ result }) => result && results.keep(result));
  return db.query<CorrectedTarget>(
    {
      text: `WITH updated AS (
       UPDATE job_target t SET outcome = f.outcome::outcome, certainty = 'YES', late = true, error_code = f.error_code, error_message = f.error_message,
         rpc_code = f.rpc_code, result_hash = f.hash
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[]) AS f(call_id, outcome, error_code, error_message, rpc_code, hash)
       WHERE t.listed_call_id = f.call_id AND t.state = 'DECIDED' AND t.outcome = 'UNKNOWN' AND NOT t.late
       RETURNING t.job_id, t.device_id, t.wave, t.outcome, t.result_hash),
     stored AS (
       INSERT INTO job_result (job_id, hash, result) SELECT DISTINCT u.job_id, body.hash, body.result::jsonb
       FROM updated u JOIN unnest($7::text[], $8::text[]) AS body(hash, result) ON body.hash = u.result_hash ON CONFLICT DO NOTHING),
     moved AS (SELECT job_id, wave, 'unknown' AS counter_before, lower(outcome::text) AS counter_after FROM updated),
     ${countMoved(SHARD.late, 'job_id')}
     SELECT job_id AS "jobId", device_id AS "deviceId" FROM updated`,
    },
    [
      answers.map(({ callId }) => callId),
      answers.map(({ outcome }) => outcome),
      answers.map(({ error }) => error?.code),
      answers.map(({ error }) => error && storable(error.message)),
      answers.map(({ error }) => error?.rpcCode),
      hashes,
      results.hashes,
      results.bodies,
    ],
  );
}
