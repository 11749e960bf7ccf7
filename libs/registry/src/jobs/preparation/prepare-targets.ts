/** Preparation: the targets of a job are made inside PostgreSQL, chunk by chunk in key order; no row of a device travels through Node. */
import type { ToolSetHash } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { DeviceFilter, GroundFilter } from '../../device-filter.js';
import { bind } from '../../database/sql-parameters.js';
import { deviceCondition } from '../../devices/device-condition.js';
import { groundFilter } from '../../groups/ground-filter.js';
import type { JobFence, ToolSetCount, ToolSetVerdict } from '../job-types.js';
import { isApproved } from '../commands/approval-targets.js';
import { countMoved, counterOf, SHARD } from '../queue/counter-sql.js';
import { imageObjection, objectionMessage } from '../rollout/image-incompatibility.js';

/** Tool sets over the devices that the job's filter matches now. */
export async function toolSetsOf(db: Queryable, { jobId, fence }: JobFence): Promise<readonly ToolSetHash[]> {
  const wanted = await wantedOf(db, { jobId, fence });
  if (!wanted) return [];
  const parameters: unknown[] = [];
  const condition = conditionOf(wanted, jobId, parameters);
  const rows = await db.query<{ hash: ToolSetHash }>(
    {
      text: `SELECT DISTINCT d.tool_set_hash AS hash FROM device d WHERE d.tool_set_hash IS NOT NULL AND ${condition}`,
    },
    parameters,
  );
  return rows.map((row) => row.hash);
}

interface WantedDevices {
  readonly devices: GroundFilter;
  /** Only devices that were fixed for the approval. */
  readonly needs_approval: boolean;
}

async function wantedOf(db: Queryable, { jobId, fence }: JobFence): Promise<WantedDevices | undefined> {
  const [wanted] = await db.query<WantedDevices>(
    { text: 'SELECT devices, approval_targets IS NOT NULL AS needs_approval FROM job WHERE id = $1 AND fence = $2' },
    [jobId, fence],
  );
  return wanted;
}

function conditionOf(
  { devices, needs_approval: needsApproval }: WantedDevices,
  jobId: string,
  parameters: unknown[],
): string {
  const condition = deviceCondition(devices, parameters);
  return needsApproval ? `(${condition} AND ${isApproved(bind(parameters, jobId))})` : condition;
}

/**
 * Inserts the next `limit` targets after the ones that are in, and remembers how far it came in the same statement: after a crash the next chunk
 * begins there, and of two at once the second waits for the job's row and begins where the first ended. The order of sending is a hash of job and device, so that no board, batch or tenant of ids always goes first. In a job with waves all
 * targets that may be sent are PENDING, and in the first until all are in; what their devices are up to is looked at when their wave opens.
 */
export async function prepareChunk(
  db: Queryable,
  { jobId, fence }: JobFence,
  verdicts: readonly ToolSetVerdict[],
  limit: number,
  at: number,
): Promise<number | undefined> {
  const wanted = await wantedOf(db, { jobId, fence });
  if (!wanted) return undefined;
  const rejected = verdicts.filter((verdict) => verdict.rejection !== undefined);
  const parameters: unknown[] = [
    jobId,
    fence,
    limit,
    new Date(at),
    rejected.map((verdict) => verdict.toolSetHash),
    rejected.map((verdict) => verdict.rejection?.code),
    rejected.map((verdict) => verdict.rejection?.message),
  ];
  const condition = conditionOf(wanted, jobId, parameters);
  const rows = await db.query<{ count: number; is_preparing: boolean }>(
    {
      text: `WITH fenced AS (
       SELECT prepared_up_to, offline, waves <> '[]' AS has_waves, firmware_image_id FROM job WHERE id = $1 AND fence = $2 AND state = 'PREPARING' FOR UPDATE),
     chunk AS MATERIALIZED (
       SELECT d.id, d.tool_set_hash, d.model, d.chip, d.ota_partitions, d.firmware_version, (d.online AND g.lease_until > now()) IS TRUE AS is_online
       FROM fenced, device d LEFT JOIN hub_process g ON g.id = d.gateway_id
       WHERE d.id > fenced.prepared_up_to AND ${condition} ORDER BY d.id LIMIT $3),
     looked AS (
       SELECT d.id, i.objection, ${objectionMessage('i.objection')} AS message
       FROM fenced f, chunk d CROSS JOIN LATERAL (SELECT i.*, ${imageObjection(false)} AS objection FROM firmware_image i WHERE i.id = f.firmware_image_id) AS i),
     judged AS MATERIALIZED (
       SELECT c.id, coalesce(l.objection, v.code) AS code, coalesce(l.message, v.message) AS message,
         CASE WHEN l.objection = 'ALREADY_CURRENT' THEN 'NO_CHANGE' WHEN coalesce(l.objection, v.code) IS NOT NULL THEN 'REJECTED' WHEN f.has_waves OR c.is_online OR f.offline = 'WAIT' THEN NULL
              WHEN f.offline = 'SKIP' THEN 'SKIPPED' ELSE 'REJECTED' END::outcome AS outcome,
         CASE WHEN coalesce(l.objection, v.code) IS NOT NULL THEN 'DECIDED' WHEN f.has_waves THEN 'PENDING' WHEN NOT c.is_online AND f.offline <> 'WAIT' THEN 'DECIDED'
              WHEN c.is_online THEN 'READY' ELSE 'WAITING_DEVICE' END::target_state AS state
       FROM fenced f, chunk c LEFT JOIN unnest($5::text[], $6::text[], $7::text[]) AS v(hash, code, message) ON v.hash = c.tool_set_hash
       LEFT JOIN looked l ON l.id = c.id),
     inserted AS (
       INSERT INTO job_target (job_id, device_id, ordinal, state, outcome, certainty, error_code, error_message, decided_at)
       SELECT $1, id, hashtextextended(id, hashtextextended($1::text, 0)), state, outcome, CASE WHEN outcome IS NOT NULL THEN 'NEVER'::send_certainty END,
         coalesce(code, CASE WHEN outcome = 'REJECTED' THEN 'DEVICE_OFFLINE' END),
         coalesce(message, CASE WHEN outcome = 'REJECTED' THEN 'The device was offline when the job started.' END),
         CASE WHEN outcome IS NOT NULL THEN $4::timestamptz END
       FROM judged),
     moved AS (SELECT 1 AS wave, NULL::text AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM judged),
     ${countMoved(SHARD.prepare)},
     advanced AS (UPDATE job SET prepared_up_to = (SELECT max(id) FROM chunk) WHERE id = $1 AND EXISTS (SELECT FROM chunk))
     SELECT count(*)::int AS count, EXISTS (SELECT FROM fenced) AS is_preparing FROM chunk`,
    },
    parameters,
  );
  return rows[0]?.is_preparing === true ? rows[0].count : undefined;
}

/** Devices that the filter matches now, by their tools, and how many of them are online. */
export async function countByToolSet(db: Queryable, devices: DeviceFilter): Promise<readonly ToolSetCount[]> {
  const parameters: unknown[] = [];
  const condition = deviceCondition(await groundFilter(db, devices), parameters);
  const rows = await db.query<{ hash: ToolSetHash | null; devices: number; online: number }>(
    {
      text: `SELECT d.tool_set_hash AS hash, count(*)::int AS devices, (count(*) FILTER (WHERE d.online AND g.lease_until > now()))::int AS online
        FROM device d LEFT JOIN hub_process g ON g.id = d.gateway_id WHERE ${condition} GROUP BY d.tool_set_hash`,
    },
    parameters,
  );
  return rows.map((row) => ({ toolSetHash: row.hash ?? undefined, devices: row.devices, online: row.online }));
}

/** Devices that the filter matches now, counted no further than `max`. */
export async function countDevices(db: Queryable, devices: DeviceFilter, max: number): Promise<number> {
  const parameters: unknown[] = [max];
  const condition = deviceCondition(await groundFilter(db, devices), parameters);
  const rows = await db.query<{ count: number }>(
    { text: `SELECT count(*)::int AS count FROM (SELECT FROM device d WHERE ${condition} LIMIT $1) AS counted` },
    parameters,
  );
  return rows[0]?.count ?? 0;
}
