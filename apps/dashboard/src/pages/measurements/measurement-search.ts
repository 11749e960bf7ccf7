/** What the page of measurements shows, as its address carries it. */
import { type ChartPeriod, chartPeriods } from '../../parts/chart/chart-period';

/** One line for the whole fleet, or one for each of some models, versions or groups. */
export const measurementSplits = ['FLEET', 'MODEL', 'FIRMWARE', 'GROUP'] as const;
export type MeasurementSplit = (typeof measurementSplits)[number];

/** Lines of one chart: more colours look alike. */
export const linesMax = 6;

export interface MeasurementSearch {
  readonly path?: string;
  readonly period?: ChartPeriod;
  readonly split?: MeasurementSplit;
  /** Models, versions or ids of groups. Missing: the first ones; empty: none is chosen. */
  readonly of?: readonly string[];
}

export function parseMeasurementSearch({
  path,
  period,
  split,
  of,
}: Readonly<Record<string, unknown>>): MeasurementSearch {
  const knownPeriod = chartPeriods.find((name) => name === period);
  const knownSplit = measurementSplits.find((name) => name === split);
  return {
    ...(typeof path === 'string' && path !== '' && { path }),
    ...(knownPeriod && { period: knownPeriod }),
    ...(knownSplit && { split: knownSplit }),
    ...chosenIn(of),
  };
}

/** An empty list is a choice, too. One that has only unknown values is not. */
function chosenIn(of: unknown): Pick<MeasurementSearch, 'of'> {
  if (!Array.isArray(of)) return {};
  const chosen = of.filter((one) => typeof one === 'string').slice(0, linesMax);
  return chosen.length > 0 || of.length === 0 ? { of: chosen } : {};
}
