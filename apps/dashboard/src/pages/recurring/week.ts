/** The runs of the coming week by day, in the zone of the viewer. */

interface Run {
  readonly at: number;
  readonly id: string;
  readonly name: string;
}

export interface Day {
  /** The start of the day, ms since the Unix epoch. */
  readonly at: number;
  readonly runs: readonly Run[];
  /** Names of jobs that have more runs on this day than the hub lists. */
  readonly unlisted: readonly string[];
}

const DAYS = 7;
/** Times that are asked for each job: the most that the API lists. */
const TIMES_MAX = 100;

interface Recurring {
  readonly id: string;
  readonly name: string;
  readonly nextRuns: readonly string[];
}

/** Today and the six days after it. Each begins at midnight of the viewer, also after 23 hours. */
export function weekOf(jobs: readonly Recurring[], now: number): readonly Day[] {
  const midnight = (ahead: number) => {
    const day = new Date(now);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate() + ahead).getTime();
  };
  const runs = jobs
    .flatMap(({ id, name, nextRuns }) => nextRuns.map((at): Run => ({ at: Date.parse(at), id, name })))
    .sort((one, other) => one.at - other.at);
  const cut = jobs
    .filter(({ nextRuns }) => nextRuns.length >= TIMES_MAX)
    .map(({ name, nextRuns }) => ({ name, lastAt: Date.parse(nextRuns.at(-1) ?? '') }));
  return Array.from({ length: DAYS }, (_unused, ahead) => {
    const [from, to] = [midnight(ahead), midnight(ahead + 1)];
    return {
      at: from,
      runs: runs.filter(({ at }) => at >= from && at < to),
      unlisted: cut.filter(({ lastAt }) => lastAt < to).map(({ name }) => name),
    };
  });
}
