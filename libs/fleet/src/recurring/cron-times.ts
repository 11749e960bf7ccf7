/** The times of a cron expression in a zone, by croner. It counts no seconds and no years. */
import { Cron } from 'croner';

const MINUTE_MS = 60_000;

/** At daylight saving time: see docs/recurring-jobs.md. */
export class CronTimes {
  readonly #cron: Cron;

  /** Both must have passed `cronProblem` and `isTimeZone`. */
  constructor({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }) {
    this.#cron = open(cron, timeZone);
  }

  /** The first time after `after`, ms since the Unix epoch; undefined if no time is left. */
  next(after: number, until = Infinity): number | undefined {
    let from = after;
    let time = this.#timeAfter(from);
    // In an hour that repeats, croner answers with times of the first one, which have passed.
    while (time !== undefined && time <= after) time = this.#timeAfter((from += MINUTE_MS));
    return time === undefined || time > until ? undefined : time;
  }

  /** At most `count` times after `after`, none after `until`. */
  list(count: number, after: number, until = Infinity): readonly number[] {
    const times: number[] = [];
    // One by one, as runs are: `nextRuns` of croner repeats times when clocks go forward.
    for (let time = this.next(after, until); time !== undefined && times.length < count; time = this.next(time, until))
      times.push(time);
    return times;
  }

  #timeAfter(from: number): number | undefined {
    return this.#cron.nextRun(new Date(from))?.getTime();
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
