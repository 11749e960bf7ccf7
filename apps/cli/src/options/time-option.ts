/** Times as people type them: a time, a date, how long ago, or in how long. */
import { UsageError } from '../exit-codes.js';
import { durationMax, secondsIn } from './duration-option.js';

/** An option of yargs with a time; its value is undefined if it is not given. */
export function timeOption(name: string, describe: string) {
  return {
    type: 'string',
    requiresArg: true,
    describe,
    coerce: (typed: unknown): string | undefined => (typed === undefined ? undefined : timeOf(name, typed, Date.now())),
  } as const;
}

/** An option with a time to come: `2h` is in two hours. */
export function futureTime(name: string, describe: string) {
  return {
    type: 'string',
    requiresArg: true,
    describe,
    coerce: (typed: unknown): string | undefined =>
      typed === undefined ? undefined : futureTimeOf(name, typed, Date.now()),
  } as const;
}

/** As `futureTime` in an edit: null for an empty text, which removes the time. */
export function removableTime(name: string, describe: string) {
  const { coerce, ...option } = futureTime(name, `${describe}; an empty text removes it`);
  return {
    ...option,
    coerce: (typed: unknown): string | null | undefined => (typed === '' ? null : coerce(typed)),
  } as const;
}

/** The time in the form of the API. `7d` is seven days before `now`; a date begins in this zone. */
export function timeOf(name: string, typed: unknown, now: number): string {
  return timeAt(name, typed, (seconds) => now - seconds * 1_000);
}

/** As `timeOf`, but `7d` is seven days after `now`. */
export function futureTimeOf(name: string, typed: unknown, now: number): string {
  return timeAt(name, typed, (seconds) => now + seconds * 1_000);
}

function timeAt(name: string, typed: unknown, atDistance: (seconds: number) => number): string {
  const text = String(typed).trim();
  const seconds = secondsIn(text);
  const isFar = seconds !== undefined && seconds > (secondsIn(durationMax) ?? 0);
  const time = seconds === undefined ? parsed(text) : isFar ? Number.NaN : atDistance(seconds);
  if (Number.isNaN(time))
    throw new UsageError(`--${name} must be a time such as 12h, 7d, 2026-01-31 or 2026-01-31T08:00Z, not "${text}".`);
  return new Date(time).toISOString();
}

/** A date begins in the zone of this computer. */
function parsed(text: string): number {
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  // `Date` takes February 31 for March 3.
  if (day === undefined || !isDay(day)) return Number.NaN;
  if (day === text) return Date.parse(`${text}T00:00`);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/.test(text);
  return isTime ? Date.parse(text) : Number.NaN;
}

function isDay(day: string): boolean {
  const date = new Date(day);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
