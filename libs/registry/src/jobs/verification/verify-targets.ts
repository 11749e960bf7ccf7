/** Moving targets that are being verified: to a decision, back in line, or on to a read of what they should show. */
import type { DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import type { JobFence, ReadbackTarget, VerificationEnd } from '../job-types.js';
import { countMoved, counterOf, SHARD } from '../queue/counter-sql.js';
import { endDownloads } from './download-state.js';

/** Rows that are no longer in VERIFYING under the same claim stay as they are. Resolves to the devices whose targets were changed. */
export async function settleVerifications(
  db: Queryable,
  { jobId, fence }: JobFence,
  ends: readonly VerificationEnd[],
  at: number,
): Promise<readonly DeviceId[]> {
  if (ends.length === 0) return [];
  const errors = ends.map(({ to }) => to.error);
  const rows = await db.query<{ device_id: DeviceId }>(
    {
      name: 'job-verified',
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     updated AS (
       UPDATE job_target t SET
         state = CASE WHEN v.outcome IS NULL THEN 'READY' ELSE 'DECIDED' END::target_state, outcome = v.outcome::outcome,
         decided_at = CASE WHEN v.outcome IS NOT NULL THEN $3::timestamptz END, error_code = v.error_code, error_message = v.error_message,
         rpc_code = NULL, retry_at = NULL, verify_deadline_at = NULL, soft_deadline_at = NULL, cut_retries = t.cut_retries + v.is_cut::int
       FROM fenced, unnest($4::text[], $5::int[], $6::text[], $7::text[], $8::text[], $9::bool[])
         AS v(device_id, claim, outcome, error_code, error_message, is_cut)
       WHERE t.job_id = $1 AND t.device_id = v.device_id AND t.claim = v.claim AND t.indexed_state = 'VERIFYING'
       RETURNING t.device_id, t.wave, t.state, t.outcome),
     given_up AS (${endDownloads("(SELECT device_id FROM updated WHERE state = 'READY')", '$3')}),
     moved AS (SELECT wave, 'verifying' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.verify)}
     SELECT device_id FROM updated`,
    },
    [
      ...[jobId, fence, new Date(at), ends.map(({ deviceId }) => deviceId), ends.map(({ attempt }) => attempt)],
      ends.map(({ to }) => (to.kind === 'decided' ? to.outcome : undefined)),
      ...[errors.map((error) => error?.code), errors.map((error) => error && storableText(error.message))],
      ends.map(({ to }) => to.kind === 'again' && to.retry === 'SAME_ATTEMPT'),
    ],
  );
  return rows.map((row) => row.device_id);
}

interface ReadbackRecord {
  readonly device_id: DeviceId;
  readonly claim: number;
  readonly epoch: number;
  readonly gateway_id: HubProcessId;
  readonly tool_set_hash: ToolSetHash | null;
}

/** Takes connected targets whose value is due to be read, at most `limit`; each is due again at `againAt` unless it is decided by then. */
export async function claimReadbacks(
  db: Queryable,
  { jobId, fence }: JobFence,
  limit: number,
  { at, againAt }: { readonly at: number; readonly againAt: number },
): Promise<readonly ReadbackTarget[]> {
  const rows = await db.query<ReadbackRecord>(
    {
      name: 'job-readback',
      text: `WITH fenced AS (
       SELECT j.id FROM job j JOIN hub_process p ON p.id = j.owner_id AND p.lease_until > now() WHERE j.id = $1 AND j.fence = $2),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place, d.epoch, d.gateway_id, d.tool_set_hash FROM fenced, job_target t
       JOIN device d ON d.id = t.device_id AND d.online JOIN hub_process g ON g.id = d.gateway_id AND g.lease_until > now()
       WHERE t.job_id = $1 AND t.indexed_state = 'VERIFYING' AND t.retry_at <= $4 ORDER BY t.retry_at LIMIT $3 FOR UPDATE OF t SKIP LOCKED)
     UPDATE job_target t SET retry_at = $5 FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place
     RETURNING t.device_id, t.claim, p.epoch, p.gateway_id, p.tool_set_hash`,
    },
    [jobId, fence, limit, new Date(at), new Date(againAt)],
  );
  return rows.map((row) => ({
    deviceId: row.device_id,
    attempt: row.claim,
    epoch: row.epoch,
    gatewayId: row.gateway_id,
    toolSetHash: row.tool_set_hash ?? undefined,
  }));
}

/** What was due earlier is due at `until`. */
export async function extendVerifying(db: Queryable, { jobId, fence }: JobFence, until: number): Promise<void> {
  await db.query(
    {
      text: `UPDATE job_target t SET verify_deadline_at = greatest(t.verify_deadline_at, $3),
         soft_deadline_at = CASE WHEN t.soft_deadline_at IS NOT NULL THEN greatest(t.soft_deadline_at, $3) END
       FROM job j WHERE j.id = $1 AND j.fence = $2 AND t.job_id = j.id AND t.indexed_state = 'VERIFYING' AND t.verify_deadline_at < $3`,
    },
    [jobId, fence, new Date(until)],
  );
}
