/**
 * When a daily window is open: from the first moment at which its zone shows `from` to the first at
 * which it shows `to`. A time that the clocks skip in spring is the moment of the skip; of a
 * repeated one in autumn the first counts.
 */
import { DateTime, IANAZone } from 'luxon';
import type { DailyWindow } from './daily-window.js';

export interface WindowState {
  readonly isOpen: boolean;
  /** When that changes, ms since the Unix epoch. */
  readonly until: number;
}

/** Two skipped weekly windows in a row, for a zone whose rules change. */
const daysLookedAhead = 22;
const dayMs = 24 * 3_600_000;
const minuteMs = 60_000;

export function windowAt(window: DailyWindow, now: number): WindowState {
  const zone = IANAZone.create(window.zone);
  const today = DateTime.fromMillis(now, { zone });
  // From yesterday on: its window may last over midnight.
  for (let ahead = -1; ahead <= daysLookedAhead; ahead += 1) {
    const day = DateTime.utc(today.year, today.month, today.day).plus({ days: ahead });
    if (window.days !== undefined && !window.days.includes(day.weekday)) continue;
    const opensAt = momentOf(zone, day.toMillis(), window.from);
    const closesAt = momentOf(zone, day.toMillis() + (window.to > window.from ? 0 : dayMs), window.to);
    if (closesAt <= Math.max(opensAt, now)) continue;
    return opensAt <= now ? { isOpen: true, until: closesAt } : { isOpen: false, until: opensAt };
  }
  return { isOpen: false, until: now + daysLookedAhead * dayMs };
}

/**
 * The first moment at which the clocks show that time, or the moment of the skip. `day`: its
 * midnight as if in UTC.
 */
function momentOf(zone: IANAZone, day: number, time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const shown = day + (hours * 60 + minutes) * minuteMs;
  const offsetAt = (at: number): number => zone.offset(at) * minuteMs;
  // Offsets of a day before and after are those before and after a change, where there is one.
  const [before, after] = [shown - offsetAt(shown - dayMs), shown - offsetAt(shown + dayMs)];
  const moment = [before, after].sort((one, other) => one - other).find((at) => at + offsetAt(at) === shown);
  return moment ?? changeBetween(after, before, offsetAt);
}

/** The first moment after `from`, up to `to`, with the offset of `to`. */
function changeBetween(from: number, to: number, offsetAt: (at: number) => number): number {
  let [low, high] = [from, to];
  const offset = offsetAt(to);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}
