/** Whether a target is sent once more, and when. [jobs §7] */
import type { Job, TargetDecision } from '../job-types.js';

/** The wait before the second attempt is up to this, ms; it doubles with each attempt. */
const firstDelayMs = 5_000;
const longestDelayMs = 300_000;

/**
 * Ms until the next attempt; undefined where this end is final. `attempts` includes the one that
 * ended; `chance`, from 0 to 1, spreads retries.
 */
export function retryDelayMs(
  { outcome, error }: TargetDecision,
  { idempotent, maxAttempts }: Pick<Job, 'idempotent' | 'maxAttempts'>,
  attempts: number,
  chance: number,
): number | undefined {
  if (!idempotent || attempts >= maxAttempts) return undefined;
  if (outcome !== 'FAILED' && outcome !== 'UNKNOWN') return undefined;
  // A tool that is gone stays gone until the device lists its tools again.
  if (error?.code === 'TOOL_GONE') return undefined;
  return Math.round(chance * longestAfter(attempts));
}

/** The longest that so many attempts of one target may lie apart in all, ms. */
export function retryDelayMaxMs(attempts: number): number {
  let sumMs = 0;
  for (let attempt = 1; attempt < attempts; attempt += 1) sumMs += longestAfter(attempt);
  return sumMs;
}

function longestAfter(attempts: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (attempts - 1));
}
