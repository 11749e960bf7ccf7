/** The counters of several waves as one. */
import { emptyProgress } from '../empty-progress.js';
import type { JobProgress } from '../job-types.js';

const counters = Object.keys(emptyProgress) as readonly (keyof JobProgress)[];

export function sumOf(waves: readonly JobProgress[]): JobProgress {
  const sum: Record<keyof JobProgress, number> = { ...emptyProgress };
  for (const wave of waves) for (const counter of counters) sum[counter] += wave[counter];
  return sum;
}
