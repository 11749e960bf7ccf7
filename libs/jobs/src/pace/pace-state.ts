/** The pace of a run: a bucket of tokens whose rate follows successes and recent failures. */
import type { Job, JobProgress } from '../job-types.js';
import { isFailing, paceOf, ratePerMinute } from './pace.js';
import { emptyBucket, refilled, takeable, waitMs, withTaken } from './pace-bucket.js';
import type { PaceBucket } from './pace-bucket.js';

/** Failures count against the pace for so long, ms. */
const windowMs = 60_000;
/** Between two samples at least, ms: bounds how many the window holds. */
const sampleMs = 1_000;

interface Sample {
  readonly at: number;
  readonly decided: number;
  readonly failed: number;
}

export interface PaceState {
  readonly bucket: PaceBucket;
  readonly samples: readonly Sample[];
  readonly succeeded: number;
  readonly isFailing: boolean;
}

type PacedJob = Pick<Job, 'perMinute' | 'disruptive'>;

export function startPace(now: number): PaceState {
  return { bucket: emptyBucket(now), samples: [], succeeded: 0, isFailing: false };
}

/** With the counters of the job at this moment. */
export function observed(
  pace: PaceState,
  { abortRules }: Pick<Job, 'abortRules'>,
  { succeeded, failed, rejected, verifyFailed, unknown }: JobProgress,
  now: number,
): PaceState {
  const bad = failed + rejected + verifyFailed + unknown;
  const sample = { at: now, decided: bad + succeeded, failed: bad };
  const latest = pace.samples.at(-1);
  const from = pace.samples.findLast(({ at }) => at <= now - windowMs) ?? pace.samples[0] ?? sample;
  const samples =
    latest === undefined || now - latest.at >= sampleMs
      ? [...pace.samples.filter(({ at }) => at >= from.at), sample]
      : pace.samples;
  const recent = { decided: sample.decided - from.decided, failed: sample.failed - from.failed };
  return { ...pace, samples, succeeded, isFailing: isFailing(recent, abortRules) };
}

/** How many of `wanted` sends may be made now, and the pace with its bucket refilled. */
export function allowedNow(
  pace: PaceState,
  job: PacedJob,
  wanted: number,
  now: number,
): { readonly limit: number; readonly pace: PaceState } {
  const rate = rateOf(pace, job);
  if (rate === undefined) return { limit: wanted, pace };
  const bucket = refilled(pace.bucket, rate, now);
  return { limit: takeable(bucket, rate, wanted), pace: { ...pace, bucket } };
}

export function spent(pace: PaceState, job: PacedJob, count: number): PaceState {
  return paceOf(job) === undefined ? pace : { ...pace, bucket: withTaken(pace.bucket, count) };
}

/** Ms until something is allowed. */
export function waitForPaceMs(pace: PaceState, job: PacedJob): number {
  const rate = rateOf(pace, job);
  return rate === undefined ? 0 : waitMs(pace.bucket, rate);
}

function rateOf({ succeeded, isFailing: isSlow }: PaceState, job: PacedJob): number | undefined {
  const pace = paceOf(job);
  return pace && ratePerMinute(pace, succeeded, isSlow);
}
