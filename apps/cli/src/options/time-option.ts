/** Times as people type them: a time, a date, or how long ago. */
import { UsageError } from '../exit-codes.js';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

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
    coerce: (typed: unknown): string => {
      const now = Date.now();
      const text = String(typed).trim();
      const isSpan = /^\d{1,6}[smhdw]$/.test(text);
      return isSpan ? new Date(2 * now - Date.parse(timeOf(name, text, now))).toISOString() : timeOf(name, text, now);
    },
  } as const;
}

/** The time in the form of the API. `7d` is seven days before `now`; a date begins in this zone. */
export function timeOf(name: string, typed: unknown, now: number): string {
  const text = String(typed).trim();
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * unitMs[unit as keyof typeof unitMs]).toISOString();
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/.test(text);
  const time = isDate ? Date.parse(`${text}T00:00`) : isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(`--${name} must be a time such as 12h, 7d, 2026-01-31 or 2026-01-31T08:00Z, not "${text}".`);
  return new Date(time).toISOString();
}
