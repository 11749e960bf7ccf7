/** The counters of targets. */
import type { JobProgress } from './job-types.js';

/** Of a job that has no targets yet. */
export const emptyProgress: JobProgress = {
  total: 0,
  pending: 0,
  waitingDevice: 0,
  inFlight: 0,
  verifying: 0,
  succeeded: 0,
  noChange: 0,
  failed: 0,
  rejected: 0,
  verifyFailed: 0,
  unknown: 0,
  expired: 0,
  cancelled: 0,
  skipped: 0,
};

const counters = Object.keys(emptyProgress) as readonly (keyof JobProgress)[];

/** The counters of several waves as one. */
export function sumOf(waves: readonly JobProgress[]): JobProgress {
  const sum: Record<keyof JobProgress, number> = { ...emptyProgress };
  for (const wave of waves) for (const counter of counters) sum[counter] += wave[counter];
  return sum;
}
