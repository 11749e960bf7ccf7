/**
 * Finds the new samples in a board's answer. A board returns its whole sample ring each time and
 * consumes nothing, so answers overlap and carry no times. [mcpu §2.7]
 */

/** The number of samples of an answer that are compared: the last ones. Boards keep at most 300. */
export const sampleWindowMax = 1_000;

/** The longest time between two samples, ms; larger values are read as this one. */
export const sampleIntervalMsMax = 86_400_000;

interface FreshSamples {
  /** The samples of the newer window that were not in the older, oldest first. */
  readonly values: readonly number[];
  /** The windows do not overlap, so samples between them may be lost. */
  readonly isGap: boolean;
}

/**
 * Returns the samples that are new in `newer`, oldest first. `expected` is the number of samples
 * according to the clock; of all possible overlaps, the one closest to it is used.
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

/** Whether the last `overlap` values of `older` equal the first of `newer`. */
function doOverlap(older: readonly number[], newer: readonly number[], overlap: number): boolean {
  const from = older.length - overlap;
  for (let at = 0; at < overlap; at++) if (older[from + at] !== newer[at]) return false;
  return true;
}
