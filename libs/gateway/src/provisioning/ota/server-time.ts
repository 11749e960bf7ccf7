/**
 * The time for a device, which shows `timestamp` plus `timezone_offset` and knows no daylight
 * saving rules. [xiaozhi §7.3]
 */
import { isTimeZone } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';

export interface ServerTime {
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** Minutes east of UTC. */
  readonly timezone_offset: number;
}

/** Zones in the cache: the tz database has about 600 names, and operators choose them. */
const ZONES_MAX = 1_000;
/** All zones change at a quarter of an hour. */
const OFFSET_VALID_MS = 15 * 60 * 1000;

interface ZoneClock {
  readonly format: Intl.DateTimeFormat;
  /** The number of the quarter of an hour for which `minutes` is valid. */
  quarter: number;
  minutes: number;
}

const clocks = new LRUCache<string, ZoneClock>({ max: ZONES_MAX });

/** Uses the first zone that exists, or UTC. */
export function serverTime(now: number, zones: readonly (string | undefined)[]): ServerTime {
  const zone = zones.find((name) => name !== undefined && (clocks.has(name) || isTimeZone(name))) ?? 'UTC';
  return { timestamp: now, timezone_offset: offsetMinutes(clockOf(zone), now) };
}

function clockOf(zone: string): ZoneClock {
  const known = clocks.get(zone);
  if (known) return known;
  const clock = {
    format: new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }),
    quarter: -1,
    minutes: 0,
  };
  clocks.set(zone, clock);
  return clock;
}

function offsetMinutes(clock: ZoneClock, now: number): number {
  const quarter = Math.floor(now / OFFSET_VALID_MS);
  if (clock.quarter !== quarter) {
    clock.minutes = readOffset(
      clock.format.formatToParts(now).find(({ type }) => type === 'timeZoneName')?.value ?? '',
    );
    clock.quarter = quarter;
  }
  return clock.minutes;
}

/** Parses `GMT`, `GMT+05:45` or `GMT-03:30`. */
function readOffset(text: string): number {
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})/.exec(text) ?? [];
  const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -size : size;
}
