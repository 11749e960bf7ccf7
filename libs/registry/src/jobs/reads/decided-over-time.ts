/** How a job came to its end: targets decided up to moments of equal distance. */
import type { TargetOutcome } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { grouped } from '../../database/grouped.js';
import type { DecidedCounter, DecidedPoint, JobSight } from '../job-types.js';
import { targetSightOf } from '../../access-scope/history-scope.js';

interface BucketRecord {
  readonly job_id: JobId;
  /** From 0; the last one is `points - 2`, because the first point is the start. */
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

/** One pass over the rows of each job, which its key finds; at most one answer for each moment and outcome comes back. */
export async function readDecidedOverTime(
  db: Queryable,
  ids: readonly JobId[],
  points: number,
  sight?: JobSight,
): Promise<readonly (readonly DecidedPoint[])[]> {
  const buckets = points - 1;
  const parameters: unknown[] = [ids, buckets];
  const isSeen = (await targetSightOf(db, sight))(parameters);
  const records = await db.query<BucketRecord>(
    {
      text: `SELECT w.job_id, b.* FROM unnest($1::uuid[]) AS w(job_id) CROSS JOIN LATERAL (
          WITH decided AS MATERIALIZED (
            SELECT t.outcome, extract(epoch FROM t.decided_at)::float8 * 1000 AS at FROM job_target t
            WHERE t.job_id = w.job_id AND t.decided_at IS NOT NULL AND ${isSeen}),
          span AS (
            SELECT least(min(d.at), (SELECT extract(epoch FROM coalesce(j.started_at, j.created_at))::float8 * 1000 FROM job j WHERE j.id = w.job_id)) AS since,
              max(d.at) AS until FROM decided d)
          SELECT CASE WHEN s.until > s.since THEN least($2::int - 1, floor((d.at - s.since) * $2::int / (s.until - s.since))::int) ELSE 0 END AS bucket,
            d.outcome, count(*)::int AS count, s.since, s.until
          FROM decided d CROSS JOIN span s GROUP BY 1, 2, s.since, s.until) b
        ORDER BY w.job_id, bucket`,
    },
    parameters,
  );
  return grouped(ids, records, ({ job_id: id }) => id).map((ofJob) => addUp(ofJob, buckets));
}

/** Counts in each stretch of time become counts up to its end. */
function addUp(records: readonly BucketRecord[], buckets: number): readonly DecidedPoint[] {
  const [first] = records;
  if (first === undefined) return [];
  const { since, until } = first;
  const endOf = (bucket: number) => Math.round(since + ((bucket + 1) * (until - since)) / buckets);
  const points = new Map<number, DecidedPoint>([[-1, { at: endOf(-1), ...none }]]);
  let counts = none;
  for (const { bucket, outcome, count } of records) {
    // Nothing was decided until here: a line that is drawn does not slope over the quiet time.
    if (!points.has(bucket)) points.set(bucket - 1, { at: endOf(bucket - 1), ...counts });
    const counter = counters[outcome];
    counts = { ...counts, [counter]: counts[counter] + count };
    points.set(bucket, { at: endOf(bucket), ...counts });
  }
  return [...points.values()];
}
