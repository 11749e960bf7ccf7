/** Repeats a write about a session while PostgreSQL is unavailable or refuses it. */
import type { Clock } from '@flotilla/session';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';

interface RetryContext {
  readonly clock: Clock;
  readonly limits: Pick<GatewayLimits, 'retryDelayMs' | 'retryDelayMsMax'>;
  readonly logger: GatewayLogger;
}

interface RetriedWrite<Value> {
  /** For the log. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly write: () => Promise<Value>;
  /** Whether a failed write is still wanted after the pause. */
  readonly isWanted: () => boolean;
}

/** Resolves to undefined if the write failed and is not wanted any more. */
export async function retryWrite<Value>(
  { clock, limits, logger }: RetryContext,
  { about, write, isWanted }: RetriedWrite<Value>,
): Promise<Value | undefined> {
  let delayMs = limits.retryDelayMs;
  for (let failures = 1; ; failures += 1) {
    try {
      return await write();
    } catch (error) {
      // The first, second, fourth and so on: one that lasts is seen, and does not fill the log.
      if (Number.isInteger(Math.log2(failures)))
        logger.warn({ error, ...about, failures }, 'a write about a session failed; it is retried');
      await new Promise<void>((resolve) => void clock.setTimer(delayMs, resolve));
      delayMs = Math.min(delayMs * 2, limits.retryDelayMsMax);
    }
    if (!isWanted()) return undefined;
  }
}
