/** How long to wait before a board is dialled again. Connecting anew drives its outputs to their defaults, so it is done ever more rarely. [mcpu §0] */
import type { GatewayLimits } from '../gateway-limits.js';

/** `failures` in a row before this wait, from 0; `random` from 0 to 1. Between half of the time and all of it, so that boards behind one switch do not come at once. */
export function redialDelayMs(
  { redialDelayMs: firstMs, redialDelayMsMax }: Pick<GatewayLimits, 'redialDelayMs' | 'redialDelayMsMax'>,
  failures: number,
  random: number,
): number {
  const wholeMs = Math.min(firstMs * 2 ** Math.min(failures, 16), redialDelayMsMax);
  return Math.round((wholeMs * (1 + random)) / 2);
}
