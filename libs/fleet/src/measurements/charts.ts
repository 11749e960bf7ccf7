/** Reads charts: plans the intervals, and reads them in the view of the caller. */
import type { DeviceFilter, FleetSeriesPoint, FleetView, Series } from '@flotilla/registry';
import { pathMax, planChart } from '@flotilla/signals';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

interface ChartRequest {
  readonly since: number;
  /** Now, unless given. */
  readonly until: number | undefined;
  readonly points: number;
}

export type ChartAnswer<Value> = { readonly value: Value } | { readonly refusal: Refusal };

type Measurements = Pick<FleetView, 'measurements'>;

/** Intervals of a series. */
const pointsMax = 1_000;
/** Paths of one request. */
const pathsMax = 50;
const spanMsMax = 10 * 366 * 86_400_000;
/** Values that a chart combines. PostgreSQL takes 500,000 points or 850,000 roll-ups a second. */
const deviceValuesMax = 50_000;
const fleetValuesMax = 400_000;

export async function readDeviceSeries(
  { measurements }: Measurements,
  deviceId: string,
  paths: readonly string[],
  { now, ...request }: ChartRequest & { readonly now: number },
): Promise<ChartAnswer<readonly Series[]>> {
  if (paths.length > pathsMax) return tooMany(pathsMax);
  const refusal = refuseChart(request, now) ?? paths.map(refusePath).find((one) => one !== undefined);
  if (refusal !== undefined) return { refusal };
  const period = { since: request.since, until: request.until ?? now };
  const { rawSince } = await measurements.chartFacts();
  const limits = { rawSince, series: 1, valuesMax: deviceValuesMax };
  const plan = planChart({ ...period, points: request.points }, limits);
  return { value: await measurements.series({ deviceId, paths, ...period, plan }) };
}

export async function readFleetSeries(
  { measurements }: Measurements,
  { filter, path }: { readonly filter: DeviceFilter | undefined; readonly path: string },
  { now, ...request }: ChartRequest & { readonly now: number },
): Promise<ChartAnswer<readonly FleetSeriesPoint[]>> {
  const refusal = refuseChart(request, now) ?? refusePath(path);
  if (refusal !== undefined) return { refusal };
  const period = { since: request.since, until: request.until ?? now };
  const facts = await measurements.chartFacts(path);
  const plan = planChart({ ...period, points: request.points }, { ...facts, valuesMax: fleetValuesMax });
  return { value: await measurements.fleetSeries({ filter, path, ...period, plan }) };
}

function refuseChart({ since, until, points }: ChartRequest, now: number): Refusal | undefined {
  if (!Number.isInteger(points) || points < 1 || points > pointsMax)
    return refuse('INVALID', ['points'], `"points" is 1 to ${pointsMax}.`);
  if (since >= (until ?? now)) return refuse('INVALID', ['since'], '"since" must be before "until".');
  if ((until ?? now) - since > spanMsMax) return refuse('INVALID', ['since'], 'A chart covers at most ten years.');
  return undefined;
}

function refusePath(path: string): Refusal | undefined {
  if (path.length > 0 && path.length <= pathMax) return undefined;
  return refuse('INVALID', ['path'], `A path has 1 to ${pathMax} characters.`);
}

function tooMany(max: number): { readonly refusal: Refusal } {
  return { refusal: refuse('INVALID', ['paths'], `One request has at most ${max} paths.`) };
}
