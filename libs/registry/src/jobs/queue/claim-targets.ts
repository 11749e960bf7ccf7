/** Claiming: which targets are sent next, with the intent to send them committed before anybody sends. */
import type { CallId, DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import type { Database, Queryable } from '../../database/database.js';
import type { ClaimedTarget, JobFence } from '../job-types.js';
import { countMoved, counterOf, SHARD } from './counter-sql.js';
import { IS_ENDED, PLACED_ERROR, PLACED_OUTCOME, placedState } from './target-placement.js';

interface ClaimedRecord {
  readonly device_id: DeviceId;
  readonly call_id: CallId;
  readonly claim: number;
  readonly attempts: number;
  readonly epoch: number;
  readonly gateway_id: HubProcessId;
  readonly tool_set_hash: ToolSetHash | null;
  readonly name: string | null;
  readonly baseline_version: string | null;
  readonly lease_left_ms: number;
}

/** Key of the lock under which claims are made where a device may be another job's: two claims at once would not see one another. */
const CLAIM_LOCK = 7_211_201;

/**
 * One commit: READY targets become DISPATCHING with a claim number, the epoch of the connection that they may be sent to, and the id of the call. Those
 * whose device went away meanwhile get what the job's offline policy says. An owner whose lease ended claims nothing, and a target of a tool that may not
 * run twice is never claimed again once it may have been sent; an upgrade is only back in line once its device was seen to run its old firmware. A device that a disruptive job holds is passed over, and so is one with any call of another
 * job under way where this job is the disruptive one. [jobs §16] The ids of the calls of one claim share their random digits and count on from there: random
 * ones for each would cost PostgreSQL four times as much. No index tells a claimed target from a READY one, so that none is written: the state is asked for as
 * well. It is asked for twice, and no row is locked before: what somebody changes in between stays as it is, and a lock costs as much as half a write.
 */
export async function claimTargets(
  db: Database,
  fence: JobFence,
  limit: number,
  at: number,
  isDisruptive: boolean,
): Promise<readonly ClaimedTarget[]> {
  return db.transaction(async (transaction) => {
    await (isDisruptive ? lockDisruptiveClaims(transaction) : lockPlainClaims(transaction));
    return claimFrom(transaction, fence, limit, at);
  });
}

/** Alone: no other claim is under way, and what was claimed before is seen. In a statement of its own, because a snapshot must be younger than the lock. */
export async function lockDisruptiveClaims(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [CLAIM_LOCK]);
}

/** Beside other plain claims, which may share a device, and never beside a disruptive one. */
async function lockPlainClaims(transaction: Queryable): Promise<void> {
  await transaction.query({ name: 'job-claim-lock', text: 'SELECT pg_advisory_xact_lock_shared($1)' }, [CLAIM_LOCK]);
}

async function claimFrom(
  db: Queryable,
  { jobId, fence }: JobFence,
  limit: number,
  at: number,
): Promise<readonly ClaimedTarget[]> {
  const rows = await db.query<ClaimedRecord>(
    {
      name: 'job-claim',
      text: `WITH fenced AS (
       SELECT j.idempotent, j.disruptive, j.verification, j.offline, j.call_timeout_ms, p.lease_until
       FROM job j JOIN hub_process p ON p.id = j.owner_id AND p.lease_until > now()
       WHERE j.id = $1 AND j.fence = $2 AND j.state = 'RUNNING' FOR SHARE OF j),
     holding AS MATERIALIZED (
       SELECT coalesce(array_agg(o.id), '{}') AS ids FROM job o, fenced f
       WHERE o.id <> $1 AND o.state IN ('RUNNING', 'PAUSED', 'CANCELLING') AND (o.disruptive OR f.disruptive)),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place, t.device_id FROM job_target t, fenced, holding h
       WHERE t.job_id = $1 AND t.indexed_state = 'READY' AND t.state = 'READY' AND (t.attempts = 0 OR fenced.idempotent OR fenced.verification = 'FIRMWARE') AND (t.retry_at IS NULL OR t.retry_at <= $4)
         AND (cardinality(h.ids) = 0 OR NOT EXISTS (
           SELECT FROM job_target o WHERE o.job_id = ANY (h.ids) AND o.device_id = t.device_id AND o.state IN ('DISPATCHING', 'SENT', 'VERIFYING')))
       ORDER BY t.ordinal LIMIT $3),
     alive AS MATERIALIZED (SELECT coalesce(array_agg(id), '{}') AS ids FROM hub_process WHERE lease_until > now()),
     named AS MATERIALIZED (SELECT left(uuid_v7($4)::text, 28) AS call_ids),
     located AS (
       SELECT p.place, (n.call_ids || lpad(to_hex(row_number() OVER ()), 8, '0'))::uuid AS call_id, d.epoch, d.gateway_id, d.tool_set_hash, d.name, d.firmware_version, f.offline, f.call_timeout_ms, d.id IS NULL AS is_gone,
         (d.online AND d.gateway_id = ANY (a.ids)) IS TRUE AS is_online
       FROM fenced f, alive a, named n, picked p LEFT JOIN device d ON d.id = p.device_id),
     updated AS (
       UPDATE job_target t SET
         state = ${placedState('DISPATCHING')}, outcome = ${PLACED_OUTCOME}, ${PLACED_ERROR},
         certainty = CASE WHEN l.is_online THEN 'MAYBE' ELSE coalesce(t.certainty, 'NEVER') END::send_certainty,
         decided_at = CASE WHEN ${IS_ENDED} THEN $4::timestamptz END,
         attempts = t.attempts + l.is_online::int, claim = t.claim + 1, epoch = l.epoch, gateway_id = l.gateway_id, retry_at = NULL,
         baseline_version = l.firmware_version,
         call_id = CASE WHEN l.is_online THEN l.call_id END, started_at = CASE WHEN l.is_online THEN $4::timestamptz END,
         deadline_at = CASE WHEN l.is_online THEN $4::timestamptz + l.call_timeout_ms * interval '1 millisecond' END
       FROM located l WHERE t.job_id = $1 AND t.ctid = l.place AND t.state = 'READY'
       RETURNING t.device_id, t.wave, t.state, t.outcome, t.call_id, t.claim, t.attempts, t.epoch, t.gateway_id, l.tool_set_hash, l.name, t.baseline_version),
     moved AS (SELECT wave, 'pending' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.claim)}
     SELECT u.device_id, u.call_id, u.claim, u.attempts, u.epoch, u.gateway_id, u.tool_set_hash, u.name, u.baseline_version,
       (extract(epoch FROM f.lease_until - clock_timestamp()) * 1000)::float8 AS lease_left_ms
     FROM updated u, fenced f WHERE u.state = 'DISPATCHING'`,
    },
    [jobId, fence, limit, new Date(at)],
  );
  return rows.map((row) => ({
    deviceId: row.device_id,
    callId: row.call_id,
    attempt: row.claim,
    sends: row.attempts,
    epoch: row.epoch,
    gatewayId: row.gateway_id,
    toolSetHash: row.tool_set_hash ?? undefined,
    deviceName: row.name ?? undefined,
    baselineVersion: row.baseline_version ?? undefined,
    sendBy: at + row.lease_left_ms,
  }));
}
