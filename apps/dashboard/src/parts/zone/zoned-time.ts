/**
 * Local times in an IANA time zone, and the instants that they name. A local time can be missing or
 * occur twice when daylight saving time begins or ends.
 */

const dayMs = 86_400_000;

/** A local date and time: `2026-03-29T02:30`. */
type LocalTime = string;

export interface DailyHours {
  /** HH:MM in the zone. */
  readonly from: string;
  readonly to: string;
  /** IANA name. */
  readonly zone: string;
  /** 1 (Monday) to 7; none means every day. */
  readonly days: readonly number[];
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const two = '2-digit' as const;
  const parts = {
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    hourCycle: 'h23',
  } as const;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...parts });
  formats.set(zone, made);
  return made;
}

/** How far the clocks of a zone are ahead of UTC at an instant, ms. */
export function offsetAt(instant: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second } = parts;
  const wall = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return wall - Math.floor(instant / 1_000) * 1_000;
}

/** The local time of an instant, to the minute. */
export function localTimeOf(instant: number, zone: string): LocalTime {
  return new Date(instant + offsetAt(instant, zone)).toISOString().slice(0, 16);
}

/** No instant for a time that the clocks skip, two for one that they show twice; earlier first. */
export function instantsOf(local: LocalTime, zone: string): readonly number[] {
  const wall = Date.parse(`${local}Z`);
  if (Number.isNaN(wall)) return [];
  const offsets = [wall - dayMs, wall + dayMs].map((near) => offsetAt(near, zone));
  const found = offsets.map((offset) => wall - offset).filter((at) => at + offsetAt(at, zone) === wall);
  return [...new Set(found)].sort((one, other) => one - other);
}

/** The next time at which the hours begin. A skipped time counts with the offset before it. */
export function nextOpening({ from, zone, days }: DailyHours, now: number): number | undefined {
  const today = localTimeOf(now, zone).slice(0, 10);
  for (let ahead = 0; ahead <= 8; ahead += 1) {
    const date = new Date(Date.parse(`${today}T00:00Z`) + ahead * dayMs);
    if (days.length > 0 && !days.includes(date.getUTCDay() || 7)) continue;
    const local = `${date.toISOString().slice(0, 10)}T${from}`;
    const wall = Date.parse(`${local}Z`);
    if (Number.isNaN(wall)) return undefined;
    const at = instantsOf(local, zone)[0] ?? wall - offsetAt(wall - dayMs, zone);
    if (at > now) return at;
  }
  return undefined;
}
