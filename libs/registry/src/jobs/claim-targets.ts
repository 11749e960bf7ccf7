/** Claiming: which targets are sent next, with the intent to send them committed before anybody sends. */
import type { CallId, DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import type { ClaimedTarget, JobFence } from '../job-store.js';
import { countMoved, counterOf, SHARD } from './counter-sql.js';

interface ClaimedRecord {
  readonly device_id: DeviceId;
  readonly call_id: CallId;
  readonly claim: number;
  readonly epoch: number;
  readonly gateway_id: HubProcessId;
  readonly tool_set_hash: ToolSetHash | null;
  readonly name: string | null;
  readonly baseline_version: string | null;
  readonly lease_left_ms: number;
}

/**
 * One statement, one commit: READY targets become DISPATCHING with a claim number, the epoch of the connection that they may be sent to, and the id of
 * the call. Those whose device went away meanwhile get what the job's offline policy says. An owner whose lease ended claims nothing, and a target of a
 * tool that may not run twice is never claimed again once it may have been sent; an upgrade is only back in line once its device was seen to run its old
 * firmware.
 */
export async function claimTargets(
  db: Queryable,
  { jobId, fence }: JobFence,
  limit: number,
  at: number,
): Promise<readonly ClaimedTarget[]> {
  const rows = await db.query<ClaimedRecord>(
    {
      name: 'job-claim',
      text: `WITH fenced AS (
       SELECT j.idempotent, j.verification, j.offline, j.call_timeout_ms, p.lease_until FROM job j JOIN hub_process p ON p.id = j.owner_id AND p.lease_until > now()
       WHERE j.id = $1 AND j.fence = $2 AND j.state = 'RUNNING' FOR SHARE OF j),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place, t.device_id FROM job_target t, fenced
       WHERE t.job_id = $1 AND t.state = 'READY' AND (t.attempts = 0 OR fenced.idempotent OR fenced.verification = 'FIRMWARE') AND (t.retry_at IS NULL OR t.retry_at <= $4)
       ORDER BY t.ordinal LIMIT $3 FOR UPDATE OF t SKIP LOCKED),
     located AS (
       SELECT p.place, d.epoch, d.gateway_id, d.tool_set_hash, d.name, d.firmware_version, f.offline, f.call_timeout_ms, (d.online AND g.lease_until > now()) IS TRUE AS is_online
       FROM fenced f, picked p LEFT JOIN device d ON d.id = p.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id),
     updated AS (
       UPDATE job_target t SET
         state = CASE WHEN l.is_online THEN 'DISPATCHING' WHEN l.offline = 'WAIT' THEN 'WAITING_DEVICE' ELSE 'DECIDED' END::target_state,
         outcome = CASE WHEN l.is_online OR l.offline = 'WAIT' THEN NULL WHEN l.offline = 'SKIP' THEN 'SKIPPED' ELSE 'REJECTED' END::outcome,
         certainty = CASE WHEN l.is_online THEN 'MAYBE' ELSE 'NEVER' END::send_certainty,
         error_code = CASE WHEN NOT l.is_online AND l.offline = 'FAIL' THEN 'DEVICE_OFFLINE' END,
         error_message = CASE WHEN NOT l.is_online AND l.offline = 'FAIL' THEN 'The device was offline when its turn came.' END,
         decided_at = CASE WHEN NOT l.is_online AND l.offline <> 'WAIT' THEN $4::timestamptz END,
         attempts = t.attempts + l.is_online::int, claim = t.claim + 1, epoch = l.epoch, gateway_id = l.gateway_id, retry_at = NULL,
         baseline_version = l.firmware_version,
         call_id = CASE WHEN l.is_online THEN uuid_v7($4) END, started_at = CASE WHEN l.is_online THEN $4::timestamptz END,
         deadline_at = CASE WHEN l.is_online THEN $4::timestamptz + l.call_timeout_ms * interval '1 millisecond' END
       FROM located l WHERE t.job_id = $1 AND t.ctid = l.place
       RETURNING t.device_id, t.state, t.outcome, t.call_id, t.claim, t.epoch, t.gateway_id, l.tool_set_hash, l.name, t.baseline_version),
     moved AS (SELECT 'pending' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.claim)}
     SELECT u.device_id, u.call_id, u.claim, u.epoch, u.gateway_id, u.tool_set_hash, u.baseline_version, u.name,
       (extract(epoch FROM f.lease_until - clock_timestamp()) * 1000)::float8 AS lease_left_ms
     FROM updated u, fenced f WHERE u.state = 'DISPATCHING'`,
    },
    [jobId, fence, limit, new Date(at)],
  );
  return rows.map((row) => ({
    deviceId: row.device_id,
    callId: row.call_id,
    attempt: row.claim,
    epoch: row.epoch,
    gatewayId: row.gateway_id,
    toolSetHash: row.tool_set_hash ?? undefined,
    deviceName: row.name ?? undefined,
    baselineVersion: row.baseline_version ?? undefined,
    sendBy: at + row.lease_left_ms,
  }));
}

/** WAITING_DEVICE targets whose device is online again become READY: of these devices, or of all. At most `limit`, so that a storm comes in portions. */
export async function wakeWaiting(
  db: Queryable,
  { jobId, fence }: JobFence,
  deviceIds: readonly DeviceId[] | undefined,
  limit: number,
): Promise<number> {
  // Each named device is looked up by itself: joined freely, the whole list may be searched for each that waits.
  const picked =
    deviceIds === undefined
      ? `SELECT t.ctid AS place FROM fenced, job_target t JOIN device d ON d.id = t.device_id JOIN hub_process g ON g.id = d.gateway_id
       WHERE t.job_id = $1 AND t.state = 'WAITING_DEVICE' AND d.online AND g.lease_until > now() LIMIT $3 FOR UPDATE OF t SKIP LOCKED`
      : `SELECT w.place FROM fenced, device d JOIN hub_process g ON g.id = d.gateway_id CROSS JOIN LATERAL (
         SELECT t.ctid AS place FROM job_target t WHERE t.job_id = $1 AND t.device_id = d.id AND t.state = 'WAITING_DEVICE'
         LIMIT 1 FOR UPDATE SKIP LOCKED) w
       WHERE d.id = ANY ($4::text[]) AND d.online AND g.lease_until > now() LIMIT $3`;
  const named = deviceIds === undefined ? [] : [deviceIds];
  const rows = await db.query<{ count: number }>(
    {
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     picked AS MATERIALIZED (
       ${picked}),
     updated AS (
       UPDATE job_target t SET state = 'READY' FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING t.device_id),
     moved AS (SELECT 'waiting_device' AS counter_before, 'pending' AS counter_after FROM updated),
     ${countMoved(SHARD.wake)}
     SELECT count(*)::int AS count FROM updated`,
    },
    [jobId, fence, limit, ...named],
  );
  return rows[0]?.count ?? 0;
}
