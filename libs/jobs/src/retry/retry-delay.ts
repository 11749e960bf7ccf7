/** Whether a target is sent once more, and when. [jobs §7] */
import type { Job, TargetDecision } from '../job-types.js';

/** The wait before the second send is up to this, ms; it doubles with each send. */
const firstDelayMs = 5_000;
const longestDelayMs = 300_000;

/**
 * Ms until the next attempt; undefined where this end is final. `sends` counts the attempt that
 * ended; `chance`, from 0 to 1, spreads retries.
 */
export function retryDelayMs(
  { outcome, error }: TargetDecision,
  { idempotent, maxAttempts }: Pick<Job, 'idempotent' | 'maxAttempts'>,
  sends: number,
  chance: number,
): number | undefined {
  if (!idempotent || sends >= maxAttempts) return undefined;
  if (outcome !== 'FAILED' && outcome !== 'UNKNOWN') return undefined;
  // A tool that is gone stays gone until the device lists its tools again.
  if (error?.code === 'TOOL_GONE') return undefined;
  return Math.round(chance * longestAfter(sends));
}

/** The longest that so many sends of one target may lie apart in all, ms. */
export function retryDelayMaxMs(sends: number): number {
  let sumMs = 0;
  for (let send = 1; send < sends; send += 1) sumMs += longestAfter(send);
  return sumMs;
}

function longestAfter(sends: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (sends - 1));
}
