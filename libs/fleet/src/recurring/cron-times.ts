/** The times of a cron expression in a zone, by croner. It counts no seconds and no years. */
import { Cron } from 'croner';

/** At daylight saving time: see docs/recurring-jobs.md. */
export class CronTimes {
  readonly #cron: Cron;

  /** Both must have passed `cronProblem` and `isTimeZone`. */
  constructor({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }) {
    this.#cron = open(cron, timeZone);
  }

  /** The first time after `after`, ms since the Unix epoch; undefined if no time is left. */
  next(after: number, until?: number): number | undefined {
    return this.list(1, after, until)[0];
  }

  /** At most `count` times after `after`, none after `until`. */
  list(count: number, after: number, until = Infinity): readonly number[] {
    return this.#cron
      .nextRuns(count, new Date(after))
      .map((time) => time.getTime())
      .filter((time) => time <= until);
  }
}

/** What is wrong with the expression, with advice; undefined if it has times. */
export function cronProblem(cron: string, now: number): string | undefined {
  const advice =
    'Write five fields (minute, hour, day, month, weekday), such as "30 6 * * MON-FRI", or a name such as @daily.';
  try {
    return open(cron, 'UTC').nextRun(new Date(now)) === null ? `"${cron}" never happens. ${advice}` : undefined;
  } catch {
    return `"${cron}" is not a cron expression. ${advice}`;
  }
}

function open(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, mode: '5-part', paused: true });
}
