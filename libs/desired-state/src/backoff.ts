import { firstWaitMs, jitter } from './limits.js';

/** When the next try follows the one with the number `attempts`. `chance`: from 0 to 1. */
export function nextTryAfter(attempts: number, now: number, chance: number): number {
  const waitMs = firstWaitMs * 2 ** (Math.max(1, attempts) - 1) * (1 + jitter * chance);
  return Math.round(now + waitMs);
}
