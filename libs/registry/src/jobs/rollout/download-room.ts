/**
 * How many downloads may start now. A lock over all processes makes sure that there are never more
 * than allowed.
 */
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';

export interface RolloutLimits {
  /** Maximum of downloads in the whole hub that run or may start at any moment. */
  readonly downloadsMax: number;
  /** Lifetime of a granted address, ms. */
  readonly grantMs: number;
  /** A download without a byte for this time, ms, does not count as running. */
  readonly stallMs: number;
  /**
   * After this many whole downloads within `loopWindowMs`, a device with still another version
   * cannot keep the image.
   */
  readonly loopDownloads: number;
  readonly loopWindowMs: number;
}

/** Key of the advisory lock under which downloads are counted and granted. */
const DOWNLOADS_LOCK = 7_211_202;

export async function lockDownloads(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [DOWNLOADS_LOCK]);
}

const IS_TARGET_ACTIVE = `EXISTS (SELECT FROM job_target o
    WHERE o.job_id = w.job_id AND o.device_id = w.device_id AND o.state IN ('DISPATCHING', 'SENT', 'VERIFYING'))`;

/**
 * Room in the hub: the limit minus open downloads, without those of decided targets. $1 time, $2
 * limit, $3 start of a stall.
 */
const HUB_ROOM = `($2::int - (SELECT count(*) FROM download w
  WHERE w.completed_at IS NULL AND w.expires_at > $1 AND (w.last_byte_at IS NULL OR w.last_byte_at >= $3)
    AND ${IS_TARGET_ACTIVE}))`;

const BASE = 'greatest(1, j.per_minute / 8)';

/**
 * Whether more targets of the job `j` failed in the last minute than half of what its strictest
 * abort rule allows. Same as `isFailing` in libs/jobs (pace.ts).
 */
const IS_FAILING = `(SELECT count(*) FILTER (WHERE t.outcome <> 'SUCCEEDED') > count(*) * (
  SELECT min((r.rule ->> 'ratio')::float8) / 2 FROM jsonb_array_elements(j.abort_rules) AS r(rule))
  FROM job_target t WHERE t.job_id = j.id AND t.state = 'DECIDED'
    AND t.decided_at > $1::timestamptz - interval '1 minute'
    AND t.outcome IN ('SUCCEEDED', 'FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN'))`;

/**
 * Sends per minute that the job `j` may make after its ends so far. Same as the ramp in libs/jobs
 * (pace.ts).
 */
const PER_MINUTE = `CASE WHEN j.per_minute IS NULL THEN NULL WHEN ${IS_FAILING} THEN ${BASE}
  WHEN j.disruptive THEN least(j.per_minute, ${BASE} * 2 ^ least(4, (
    SELECT coalesce(sum(c.succeeded), 0)::bigint FROM job_counter c WHERE c.job_id = j.id) / ${BASE}))
  ELSE j.per_minute END`;

/**
 * Room in the job `j`: what `maxInFlight` and the pace leave, for connected devices and OTA
 * requests together.
 */
const JOB_ROOM = `least(
  j.max_in_flight - (SELECT count(*) FROM download w
    WHERE w.job_id = j.id AND w.completed_at IS NULL AND w.expires_at > $1 AND ${IS_TARGET_ACTIVE}),
  ${PER_MINUTE} - (SELECT count(*) FROM download w
    WHERE w.id >= (lpad(to_hex((extract(epoch FROM $1::timestamptz) * 1000)::bigint - 60000), 12, '0')
      || repeat('0', 20))::uuid AND w.job_id = j.id))`;

/** Number of downloads that may start for the job now. */
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
