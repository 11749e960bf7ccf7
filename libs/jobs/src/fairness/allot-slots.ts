/**
 * Shares scarce slots among jobs by deficit round robin, in proportion to their weights. [jobs §16]
 */

/** A job that waits for slots. */
export interface Contender<Id> {
  readonly id: Id;
  /** At least 1. */
  readonly weight: number;
  /** At least 1. */
  readonly wanted: number;
  /** What is left of its turn. */
  readonly deficit: number;
}

interface Allotment<Id> {
  readonly granted: ReadonlyMap<Id, number>;
  /** Who still waits, in the order of the coming turns. */
  readonly waiting: readonly Contender<Id>[];
}

/** Slots of one turn, per weight. */
const quantum = 25;

/**
 * Grants at most `free` slots. Contenders come in the order of their turns; an interrupted turn
 * goes on at the front.
 */
export function allotSlots<Id>(contenders: readonly Contender<Id>[], free: number): Allotment<Id> {
  const granted = new Map<Id, number>();
  const waiting = [...contenders];
  for (let left = free; left > 0;) {
    const next = waiting.shift();
    if (next === undefined) break;
    const turn = next.deficit > 0 ? next.deficit : quantum * next.weight;
    const count = Math.min(next.wanted, turn, left);
    granted.set(next.id, (granted.get(next.id) ?? 0) + count);
    left -= count;
    const after = { ...next, wanted: next.wanted - count, deficit: turn - count };
    if (after.wanted === 0) continue;
    if (after.deficit > 0) waiting.unshift(after);
    else waiting.push(after);
  }
  return { granted, waiting };
}

/** Waiting longer than this, ms, counts as the highest priority. */
const agedAfterMs = 10 * 60_000;
const weights = [1, 3, 9] as const;

/** Weight of a job of priority 1 to 3. */
export function weightOf(priority: number, waitedMs: number): number {
  if (waitedMs >= agedAfterMs) return weights[2];
  return weights[priority - 1] ?? weights[1];
}
