/** The number of decided targets of a job over time. */
import type { JobProgress, TargetOutcome } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { grouped } from '../../database/grouped.js';
import type { JobScope } from '../job-scope.js';
import { targetScopeOf } from '../../access-scope/history-scope.js';

/** The number of targets per outcome at a moment, ms since the Unix epoch. */
export type DecidedPoint = { readonly at: number } & Readonly<Record<DecidedCounter, number>>;

/** The counters of decided targets. */
type DecidedCounter = Exclude<keyof JobProgress, 'total' | 'pending' | 'waitingDevice' | 'inFlight' | 'verifying'>;

interface BucketRecord {
  readonly job_id: JobId;
  /** From 0 to `points - 2`, because the first point is the start. */
  readonly bucket: number;
  readonly outcome: TargetOutcome;
  readonly count: number;
  /** Ms since the Unix epoch. */
  readonly since: number;
  readonly until: number;
}

const counters = {
  SUCCEEDED: 'succeeded',
  NO_CHANGE: 'noChange',
  FAILED: 'failed',
  REJECTED: 'rejected',
  VERIFY_FAILED: 'verifyFailed',
  UNKNOWN: 'unknown',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
  SKIPPED: 'skipped',
} as const satisfies Readonly<Record<TargetOutcome, DecidedCounter>>;

const none = Object.fromEntries(Object.values(counters).map((counter) => [counter, 0])) as Readonly<
  Record<DecidedCounter, number>
>;

/** Reads the rows of each job once. Returns at most one row per moment and outcome. */
export async function readDecidedOverTime(
  db: Queryable,
  ids: readonly JobId[],
  points: number,
  scope?: JobScope,
): Promise<readonly (readonly DecidedPoint[])[]> {
  const buckets = points - 1;
  const parameters: unknown[] = [ids, buckets];
  const isInScope = (await targetScopeOf(db, scope))(parameters);
  const records = await db.query<BucketRecord>(
    {
      text: `SELECT w.job_id, b.* FROM unnest($1::uuid[]) AS w(job_id) CROSS JOIN LATERAL (
          WITH decided AS MATERIALIZED (
            SELECT t.outcome, extract(epoch FROM t.decided_at)::float8 * 1000 AS at FROM job_target t
            WHERE t.job_id = w.job_id AND t.decided_at IS NOT NULL AND ${isInScope}),
          span AS (
            SELECT max(d.at) AS until, least(min(d.at), (
              SELECT extract(epoch FROM coalesce(j.started_at, j.created_at))::float8 * 1000 FROM job j
              WHERE j.id = w.job_id)) AS since FROM decided d)
          SELECT CASE WHEN s.until > s.since
              THEN least($2::int - 1, floor((d.at - s.since) * $2::int / (s.until - s.since))::int)
              ELSE 0 END AS bucket, d.outcome, count(*)::int AS count, s.since, s.until
          FROM decided d CROSS JOIN span s GROUP BY 1, 2, s.since, s.until) b
        ORDER BY w.job_id, bucket`,
    },
    parameters,
  );
  return grouped(ids, records, ({ job_id: id }) => id).map((ofJob) => addUp(ofJob, buckets));
}

/** Turns counts per bucket into counts up to the end of each bucket. */
function addUp(records: readonly BucketRecord[], buckets: number): readonly DecidedPoint[] {
  const [first] = records;
  if (first === undefined) return [];
  const { since, until } = first;
  const endOf = (bucket: number) => Math.round(since + ((bucket + 1) * (until - since)) / buckets);
  const points = new Map<number, DecidedPoint>([[-1, { at: endOf(-1), ...none }]]);
  let counts = none;
  for (const { bucket, outcome, count } of records) {
    // A point at the end of a quiet time keeps a drawn line flat.
    if (!points.has(bucket)) points.set(bucket - 1, { at: endOf(bucket - 1), ...counts });
    const counter = counters[outcome];
    counts = { ...counts, [counter]: counts[counter] + count };
    points.set(bucket, { at: endOf(bucket), ...counts });
  }
  return [...points.values()];
}
