/**
 * How many downloads may start now. A lock over all processes makes sure that there are never more
 * than allowed.
 */
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { sql, SqlFile } from '../../database/sql-file.js';

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

/** OFFSET 0 asks for each download: a join may read all targets of a job. */
const IS_TARGET_ACTIVE = `EXISTS (SELECT FROM job_target o
    WHERE o.job_id = w.job_id AND o.device_id = w.device_id AND o.state IN ('DISPATCHING', 'SENT', 'VERIFYING')
    OFFSET 0)`;

const BASE = 'greatest(1, j.per_minute / 8)';

/**
 * Whether more targets of the job `j` failed in the last minute than half of what its strictest
 * abort rule allows. Same as `isFailing` in libs/jobs (pace.ts).
 */
const IS_FAILING = `(SELECT count(*) FILTER (WHERE t.outcome <> 'SUCCEEDED') > count(*) * (
  SELECT min((r.rule ->> 'ratio')::float8) / 2 FROM jsonb_array_elements(j.abort_rules) AS r(rule))
  FROM job_target t WHERE t.job_id = j.id AND t.wave > 0 AND t.state = 'DECIDED'
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

const { integer, timestamp, uuid } = sql;

const READ_ROOM = new SqlFile(
  new URL('./read-room.sql', import.meta.url),
  {
    name: 'rollout-room',
    parameters: { at: timestamp, downloadsMax: integer, stalledBefore: timestamp, jobId: uuid<JobId>() },
    row: { room: integer },
  },
  { isTargetActive: IS_TARGET_ACTIVE, perMinute: PER_MINUTE },
);

/** Number of downloads that may start for the job now. */
export async function readRoom(db: Queryable, jobId: JobId, at: number, limits: RolloutLimits): Promise<number> {
  const [row] = await READ_ROOM.run(db, {
    jobId,
    at: new Date(at),
    downloadsMax: limits.downloadsMax,
    stalledBefore: new Date(at - limits.stallMs),
  });
  return row?.room ?? 0;
}
