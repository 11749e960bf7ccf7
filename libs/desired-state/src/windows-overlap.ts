import { desiredWindowAt } from './desired-window.js';
import type { DesiredWindow } from './desired-window.js';

/** A week has each day once; edges at most two a day. */
const lookedAtMs = 8 * 24 * 3_600_000;
const edgesMax = 40;

/** Whether both are open at the same time in the week from `from` on. */
export function windowsOverlap(
  one: DesiredWindow | undefined,
  other: DesiredWindow | undefined,
  deviceZone: string,
  from: number,
): boolean {
  if (one === undefined || other === undefined) return true;
  let at = from;
  for (let edges = 0; edges < edgesMax && at < from + lookedAtMs; edges += 1) {
    const [first, second] = [desiredWindowAt(one, deviceZone, at), desiredWindowAt(other, deviceZone, at)];
    if (first === undefined || second === undefined || (first.isOpen && second.isOpen)) return true;
    at = Math.min(first.until, second.until);
  }
  return false;
}
