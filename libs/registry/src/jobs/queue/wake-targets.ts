/** Targets that waited and whose time has come: their device is back, or is gone for good, or the wait before another try is over. */
import type { DeviceId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { JobFence } from '../job-types.js';
import { countMoved, counterOf, SHARD } from './counter-sql.js';
import { LATEST_END } from './target-placement.js';

/** WAITING_DEVICE targets of these devices become READY where the device is online. At most `limit`, so that a storm comes in portions. */
export async function wakeNamed(
  db: Queryable,
  { jobId, fence }: JobFence,
  deviceIds: readonly DeviceId[],
  limit: number,
): Promise<number> {
  // Each named device is looked up by itself: joined freely, the whole list may be searched for each that waits.
  const rows = await db.query<{ count: number }>(
    {
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     picked AS MATERIALIZED (
       SELECT w.place FROM fenced, device d JOIN hub_process g ON g.id = d.gateway_id CROSS JOIN LATERAL (
         SELECT t.ctid AS place FROM job_target t WHERE t.job_id = $1 AND t.device_id = d.id AND t.indexed_state = 'WAITING_DEVICE'
         LIMIT 1 FOR UPDATE SKIP LOCKED) w
       WHERE d.id = ANY ($4::text[]) AND d.online AND g.lease_until > now() LIMIT $3),
     updated AS (
       UPDATE job_target t SET state = 'READY' FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING t.wave),
     moved AS (SELECT wave, 'waiting_device' AS counter_before, 'pending' AS counter_after FROM updated),
     ${countMoved(SHARD.wake)}
     SELECT count(*)::int AS count FROM updated`,
    },
    [jobId, fence, limit, deviceIds],
  );
  return rows[0]?.count ?? 0;
}

/** The same for all that wait. Those whose device was removed are skipped, because nobody will ever wake them. Resolves to how many moved. */
export async function wakeAll(db: Queryable, { jobId, fence }: JobFence, limit: number): Promise<number> {
  const rows = await db.query<{ count: number }>(
    {
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place, d.id IS NULL AS is_gone
       FROM fenced, job_target t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id
       WHERE t.job_id = $1 AND t.indexed_state = 'WAITING_DEVICE' AND (d.id IS NULL OR (d.online AND g.lease_until > now()))
       LIMIT $3 FOR UPDATE OF t SKIP LOCKED),
     updated AS (
       UPDATE job_target t SET state = CASE WHEN p.is_gone THEN 'DECIDED' ELSE 'READY' END::target_state,
         outcome = CASE WHEN NOT p.is_gone THEN NULL WHEN t.attempts > 0 THEN ${LATEST_END} ELSE 'SKIPPED' END::outcome,
         certainty = coalesce(t.certainty, CASE WHEN p.is_gone THEN 'NEVER'::send_certainty END),
         decided_at = CASE WHEN p.is_gone THEN now() END
       FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING t.wave, t.state, t.outcome),
     moved AS (SELECT wave, 'waiting_device' AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
     ${countMoved(SHARD.wake)}
     SELECT count(*)::int AS count FROM updated`,
    },
    [jobId, fence, limit],
  );
  return rows[0]?.count ?? 0;
}

/** RETRY_WAIT targets whose time has come become READY, those that waited longest first. Both states are one counter. */
export async function releaseRetries(
  db: Queryable,
  { jobId, fence }: JobFence,
  limit: number,
  at: number,
): Promise<{ readonly released: number; readonly nextAt: number | undefined }> {
  const rows = await db.query<{ released: number; next_at: Date | null }>(
    {
      text: `WITH fenced AS (SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE),
     picked AS MATERIALIZED (
       SELECT t.ctid AS place FROM fenced, job_target t WHERE t.job_id = $1 AND t.indexed_state = 'RETRY_WAIT' AND t.retry_at <= $4
       ORDER BY t.retry_at LIMIT $3 FOR UPDATE OF t SKIP LOCKED),
     updated AS (
       UPDATE job_target t SET state = 'READY', retry_at = NULL FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING 1)
     SELECT (SELECT count(*)::int FROM updated) AS released,
       (SELECT min(t.retry_at) FROM job_target t WHERE t.job_id = $1 AND t.indexed_state = 'RETRY_WAIT' AND t.retry_at > $4) AS next_at`,
    },
    [jobId, fence, limit, new Date(at)],
  );
  const [row] = rows;
  return { released: row?.released ?? 0, nextAt: row?.released === limit ? at : row?.next_at?.getTime() };
}
