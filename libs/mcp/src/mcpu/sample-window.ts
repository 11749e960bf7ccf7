/** A board hands out its ring of samples as often as it is asked, and consumes nothing: consecutive answers overlap, and say nothing of time. [mcpu §2.7] */

/** Samples of one answer that are looked at: the last ones. Boards keep at most 300; every shift of two windows may have to be compared. */
export const sampleWindowMax = 1_000;

export interface FreshSamples {
  /** Those of the newer window that were not in the older, oldest first. */
  readonly values: readonly number[];
  /** Nothing of the older window is left, so there may have been others between. */
  readonly isGap: boolean;
}

/**
 * What is new in `newer` after `older`, both oldest first. `expected` is how many samples were taken between, as the clock says: of all overlaps that the values
 * allow, that one is believed which comes nearest, because a value that does not change overlaps with itself everywhere.
 */
export function freshSamples(older: readonly number[], newer: readonly number[], expected: number): FreshSamples {
  const overlapMax = Math.min(older.length, newer.length);
  let best = 0;
  for (let overlap = 1; overlap <= overlapMax; overlap++) {
    const isNearer =
      best === 0 || Math.abs(newer.length - overlap - expected) <= Math.abs(newer.length - best - expected);
    if (isNearer && doOverlap(older, newer, overlap)) best = overlap;
  }
  return { values: newer.slice(best), isGap: best === 0 && older.length > 0 && newer.length > 0 };
}

/** Whether the last `overlap` values of `older` are the first of `newer`. */
function doOverlap(older: readonly number[], newer: readonly number[], overlap: number): boolean {
  const from = older.length - overlap;
  for (let at = 0; at < overlap; at++) if (older[from + at] !== newer[at]) return false;
  return true;
}
