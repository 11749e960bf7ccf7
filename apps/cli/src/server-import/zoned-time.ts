/** Times of a MySQL dump: DATETIME holds the clock of a zone that the dump does not name. */

/** Whether the runtime knows the zone. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** `2026-03-14 15:09:26` in this zone, as RFC 3339 in UTC; undefined for anything else. */
export function zonedTime(text: string | null, zone: string): string | undefined {
  const parts = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(text ?? '');
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number);
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  // MySQL writes 0000-00-00 for no time.
  if (month === 0 || day === 0 || Number.isNaN(wall)) return undefined;
  const first = wall - offsetMs(wall, zone);
  return new Date(wall - offsetMs(first, zone)).toISOString();
}

function offsetMs(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  } as const);
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const wall = Date.UTC(
    part['year'] ?? 0,
    (part['month'] ?? 1) - 1,
    part['day'] ?? 1,
    part['hour'] ?? 0,
    part['minute'] ?? 0,
    part['second'] ?? 0,
  );
  return wall - Math.floor(at / 1_000) * 1_000;
}
