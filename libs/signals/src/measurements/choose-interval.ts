/** From which table a chart is read, and how wide its intervals are. Times are ms. */

export type SeriesLevel = 'RAW' | 'HOUR' | 'DAY';

interface ChartPeriod {
  readonly since: number;
  /** Not in the period. */
  readonly until: number;
  /** Intervals at most. */
  readonly points: number;
}

export interface ChartPlan {
  readonly level: SeriesLevel;
  readonly stepMs: number;
  /** Where the first interval begins: a multiple of the step, so that charts do not flicker. */
  readonly from: number;
}

const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Steps that people read well. */
const steps: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800].map((seconds) => seconds * secondMs),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * hourMs),
  ...[1, 2, 3, 5, 7, 14, 28].map((days) => days * dayMs),
];

interface ChartLimits {
  /** From when single points are there; before, only roll-ups. */
  readonly rawSince: number;
  /** Series that are combined: 1 for a chart of one device. */
  readonly series: number;
  /** Values that may be read for one chart. Where a level has more, a coarser one serves. */
  readonly valuesMax: number;
}

/** Between two points of a series, as an estimate. */
const pointEveryMs = 60_000;

/**
 * The finest step with at most `points` intervals, from the coarsest level that is fine enough for
 * it. Periods that begin before the points do are read from roll-ups.
 */
export function planChart(period: ChartPeriod, { rawSince, series, valuesMax }: ChartLimits): ChartPlan {
  const { since, until } = period;
  const spanMs = Math.max(1, until - since);
  const values = (everyMs: number) => Math.ceil(spanMs / everyMs) * series;
  const wanted = stepOf(period, secondMs);
  if (wanted < hourMs && since >= rawSince && values(pointEveryMs) <= valuesMax) return planOf('RAW', wanted, since);
  if (wanted < dayMs && values(hourMs) <= valuesMax) return planOf('HOUR', stepOf(period, hourMs), since);
  return planOf('DAY', stepOf(period, dayMs), since);
}

/** The smallest step from `min` on with at most `points` intervals. */
function stepOf({ since, until, points }: ChartPeriod, min: number): number {
  const fits = (step: number) => Math.ceil((until - floorTo(since, step)) / step) <= Math.max(1, points);
  const step = steps.find((one) => one >= min && fits(one));
  if (step !== undefined) return step;
  let days = 56;
  while (!fits(days * dayMs)) days *= 2;
  return days * dayMs;
}

function planOf(level: SeriesLevel, stepMs: number, since: number): ChartPlan {
  return { level, stepMs, from: floorTo(since, stepMs) };
}

function floorTo(at: number, step: number): number {
  return Math.floor(at / step) * step;
}
