/** Whether a reported number is stored. Times are ms since the Unix epoch. */

/** How far the clocks of two processes may differ, ms. */
const CLOCKS_DIFFER_MS = 60_000;

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
export function isStored({ deadband, minIntervalSeconds }: PointRule, last: Point | undefined, next: Point): boolean {
  // A point in the future is from before a clock was set back.
  if (last === undefined || last.at > next.at + CLOCKS_DIFFER_MS) return true;
  if (next.at - last.at < minIntervalSeconds * 1_000) return false;
  return Math.abs(next.value - last.value) >= deadband;
}
