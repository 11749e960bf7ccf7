/** Whether a reported number is stored. Times are ms since the Unix epoch. */
import { clockSkewMsMax } from '@flotilla/mcp';

/** Decimals are not exact: 20.4 - 20.3 is a little less than 0.1. */
const EXACT_ENOUGH = 1 - 1e-6;

export interface Point {
  readonly at: number;
  readonly value: number;
}

export interface PointRule {
  /** A strictly smaller change from the last stored value is dropped. */
  readonly deadband: number;
  readonly minIntervalSeconds: number;
}

/** `last` is the last stored point; undefined for the first. */
export function isStored(
  { deadband, minIntervalSeconds }: PointRule,
  { last, next, now }: { readonly last: Point | undefined; readonly next: Point; readonly now: number },
): boolean {
  // A point in the future is from before a clock was set back. Samples of a ring are in the past.
  if (last === undefined || last.at > now + clockSkewMsMax) return true;
  if (next.at - last.at < minIntervalSeconds * 1_000) return false;
  return Math.abs(next.value - last.value) >= deadband * EXACT_ENOUGH;
}
