/** The counters of several waves as one. */
import type { JobProgress } from '../job-types.js';

const zero: JobProgress = {
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
const counters = Object.keys(zero) as readonly (keyof JobProgress)[];

export function sumOf(waves: readonly JobProgress[]): JobProgress {
  const sum: Record<keyof JobProgress, number> = { ...zero };
  for (const wave of waves) for (const counter of counters) sum[counter] += wave[counter];
  return sum;
}
