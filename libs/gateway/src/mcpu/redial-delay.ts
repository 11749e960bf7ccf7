/**
 * How long to wait before a board is dialled again. Connecting resets its outputs, so the delay
 * grows. [mcpu §0]
 */
import type { GatewayLimits } from '../gateway-limits.js';

/**
 * `failures` in a row before this wait, from 0; `random` from 0 to 1. Returns half of the time or
 * more, so that boards behind one switch are spread.
 */
export function redialDelayMs(
  { redialDelayMs: firstMs, redialDelayMsMax }: Pick<GatewayLimits, 'redialDelayMs' | 'redialDelayMsMax'>,
  failures: number,
  random: number,
): number {
  const wholeMs = Math.min(firstMs * 2 ** Math.min(failures, 16), redialDelayMsMax);
  return Math.round((wholeMs * (1 + random)) / 2);
}
