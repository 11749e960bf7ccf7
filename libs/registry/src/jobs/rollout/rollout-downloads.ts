/** Places for downloads. Whoever takes one holds a lock over all processes, so that there are never more than allowed. */
import type { CallErrorCode, DeviceId, JobId } from '@flotilla/mcp';
import type { Database, Queryable } from '../../database/database.js';
import type { JobFence } from '../job-types.js';
import type { RolloutGrant, RolloutLimits } from './rollout-types.js';
import { vainDownloads } from '../../firmware/wasted-downloads.js';
import { imageObjection, objectionMessage } from './image-incompatibility.js';

/** Key of the lock under which places are counted and taken. */
const DOWNLOADS_LOCK = 7_211_202;

export async function lockDownloads(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [DOWNLOADS_LOCK]);
}

/** Of the hub: offered and not over. One whose target is decided will not be fetched any more. Parameters: time, limit, and since when one is stalled. */
const HUB_ROOM = `($2::int - (SELECT count(*) FROM download w
  WHERE w.completed_at IS NULL AND w.expires_at > $1 AND (w.last_byte_at IS NULL OR w.last_byte_at >= $3)
    AND EXISTS (SELECT FROM job_target o WHERE o.job_id = w.job_id AND o.device_id = w.device_id AND o.state IN ('DISPATCHING', 'SENT', 'VERIFYING'))))`;

const BASE = 'greatest(1, j.per_minute / 8)';

/** Whether more targets of the job `j` failed over the last minute than half of what its strictest rule allows: `isFailing` of libs/jobs (pace.ts), as SQL. */
const IS_FAILING = `(SELECT count(*) FILTER (WHERE t.outcome <> 'SUCCEEDED') > count(*) * (
  SELECT min((r.rule ->> 'ratio')::float8) / 2 FROM jsonb_array_elements(j.abort_rules) AS r(rule))
  FROM job_target t WHERE t.job_id = j.id AND t.state = 'DECIDED' AND t.decided_at > $1::timestamptz - interval '1 minute'
    AND t.outcome IN ('SUCCEEDED', 'FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN'))`;

/** What the job `j` may send in a minute by its ends so far: the ramp of libs/jobs (pace.ts), as SQL. */
const PER_MINUTE = `CASE WHEN j.per_minute IS NULL THEN NULL WHEN ${IS_FAILING} THEN ${BASE} WHEN j.disruptive THEN least(j.per_minute, ${BASE} * 2 ^ least(4, (
  SELECT coalesce(sum(c.succeeded), 0)::bigint FROM job_counter c WHERE c.job_id = j.id) / ${BASE})) ELSE j.per_minute END`;

/** Of the job `j`: what its pace and `maxInFlight` leave for devices at their OTA check and for connected ones together. */
const JOB_ROOM = `least(
  j.max_in_flight - (SELECT count(*) FROM download w WHERE w.job_id = j.id AND w.completed_at IS NULL AND w.expires_at > $1
    AND EXISTS (SELECT FROM job_target o WHERE o.job_id = w.job_id AND o.device_id = w.device_id AND o.state IN ('DISPATCHING', 'SENT', 'VERIFYING'))),
  ${PER_MINUTE} - (SELECT count(*) FROM download w
    WHERE w.id >= (lpad(to_hex((extract(epoch FROM $1::timestamptz) * 1000)::bigint - 60000), 12, '0') || repeat('0', 20))::uuid AND w.job_id = j.id))`;

export async function readRoom(db: Queryable, jobId: JobId, at: number, limits: RolloutLimits): Promise<number> {
  const [row] = await db.query<{ room: number }>(
    {
      name: 'rollout-room',
      text: `SELECT greatest(0, least(${HUB_ROOM}, ${JOB_ROOM}))::int AS room FROM job j WHERE j.id = $4`,
    },
    [new Date(at), limits.downloadsMax, new Date(at - limits.stallMs), jobId],
  );
  return row?.room ?? 0;
}

interface GrantRecord {
  readonly device_id: DeviceId;
  readonly objection: CallErrorCode | null;
  readonly message: string | null;
  readonly whole: number;
  readonly download_id: string | null;
}

/**
 * Whoever fetches the same image again and again does not keep it, and is sent it no more. Until a process serves a download, it is expected at the one that
 * holds the device's session.
 */
export function grantDownloads(
  db: Database,
  { jobId, fence }: JobFence,
  deviceIds: readonly DeviceId[],
  at: number,
  limits: RolloutLimits,
): Promise<ReadonlyMap<DeviceId, RolloutGrant>> {
  return db.transaction(async (transaction) => {
    await lockDownloads(transaction);
    const room = await readRoom(transaction, jobId, at, limits);
    const rows = await transaction.query<GrantRecord>(
      {
        name: 'rollout-grant',
        text: `WITH wanted AS MATERIALIZED (
         SELECT w.device_id, w.number, i.id AS image_id, ${imageObjection(true)} AS objection,
           ${vainDownloads('w.device_id', '$6')} AS whole,
           d.model, d.chip, i.chip AS image_chip, i.version, d.gateway_id AS server_id
         FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id, unnest($3::text[]) WITH ORDINALITY AS w(device_id, number)
         JOIN device d ON d.id = w.device_id WHERE j.id = $1 AND j.fence = $2 AND j.state = 'RUNNING'),
       chosen AS (SELECT device_id, image_id, server_id, row_number() OVER (ORDER BY number) AS place FROM wanted WHERE objection IS NULL AND whole < $7),
       added AS (
         INSERT INTO download (id, image_id, device_id, job_id, expires_at, server_id)
         SELECT uuid_v7($4), image_id, device_id, $1, $5, server_id FROM chosen WHERE place <= $8 RETURNING id, device_id)
       SELECT d.device_id, d.objection, ${objectionMessage('d.objection')} AS message, d.whole, a.id AS download_id
       FROM wanted d JOIN firmware_image i ON i.id = d.image_id LEFT JOIN added a ON a.device_id = d.device_id`,
      },
      [
        ...[jobId, fence, deviceIds, new Date(at), new Date(at + limits.grantMs), new Date(at - limits.loopWindowMs)],
        ...[limits.loopDownloads, room],
      ],
    );
    return new Map(rows.map((row) => [row.device_id, grantOf(row, at + limits.grantMs, limits)]));
  });
}

function grantOf(row: GrantRecord, expiresAt: number, { loopDownloads }: RolloutLimits): RolloutGrant {
  if (row.objection !== null) return { kind: 'refused', error: { code: row.objection, message: row.message ?? '' } };
  if (row.download_id !== null) return { kind: 'granted', downloadId: row.download_id, expiresAt };
  if (row.whole < loopDownloads) return { kind: 'full' };
  return {
    kind: 'refused',
    error: {
      code: 'DOWNLOADS_IN_VAIN',
      message: `The device has fetched the image ${row.whole} times and does not keep it.`,
    },
  };
}
