/** The counters of a job that has no targets yet. */
import type { JobProgress } from './job-types.js';

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
