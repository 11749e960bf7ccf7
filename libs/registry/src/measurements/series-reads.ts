/** The statements of charts. Their tables and conditions depend on the request. */
import { scopeOf } from '../access-scope/history-scope.js';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { listedDeviceCondition } from '../devices/device-condition.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import { partitionsOf } from '../retention/drop-partitions.js';
import type {
  ChartFacts,
  FleetSeriesPoint,
  FleetSeriesRequest,
  LatestPoint,
  Series,
  SeriesPoint,
  SeriesRequest,
} from './measurement.js';
import { readProgress } from './measurement-upkeep.js';
import { seriesSource } from './series-source.js';

/** Until the oldest points are removed, all are there. */
export async function readChartFacts(database: Database, path: string | undefined): Promise<ChartFacts> {
  const [progress, packs, [counted]] = await Promise.all([
    readProgress(database),
    partitionsOf(database, 'measurement_pack'),
    database.query<{ series: number }>(
      {
        name: 'count-series',
        text: `SELECT count(*)::int AS series FROM measurement_series s JOIN measurement_path p ON p.id = s.path_id
               WHERE p.path = $1`,
      },
      [path === undefined ? null : storableText(path)],
    ),
  ]);
  const first = packs[0]?.from ?? progress?.packedUntil;
  const rawSince = first !== undefined && (await hasRollUpsBefore(database, first)) ? first : 0;
  return { rawSince, series: Math.max(1, counted?.series ?? 1) };
}

/** Without older roll-ups no point has been removed. */
async function hasRollUpsBefore(database: Database, at: number): Promise<boolean> {
  const [row] = await database.query<{ is_older: boolean }>(
    { name: 'older-roll-ups', text: 'SELECT EXISTS (SELECT FROM measurement_hour WHERE at < $1) AS is_older' },
    [new Date(at)],
  );
  return row?.is_older === true;
}

export async function readSeries(
  database: Database,
  { deviceId, paths, since, until, plan, visibleSince }: SeriesRequest,
  { latest, numbers }: { readonly latest: readonly LatestPoint[]; readonly numbers: ReadonlyMap<string, number> },
): Promise<readonly Series[]> {
  const wanted = paths.flatMap((path) => numbers.get(path) ?? []);
  const parameters: unknown[] = [storableText(deviceId), wanted, plan.stepMs];
  const ofDevice = 'm.device_id = (SELECT v.id FROM measurement_device v WHERE v.device_id = $1)';
  const conditions = [ofDevice, 'm.path_id = ANY($2::smallint[])'];
  // A roll-up of a day begins before `since` where that is in the middle of the day.
  if (visibleSince !== undefined && plan.level === 'DAY')
    conditions.push(`m.at >= ${bind(parameters, new Date(visibleSince))}`);
  const source = seriesSource(
    { level: plan.level, since, until, progress: await readProgress(database), asDecimals: true },
    conditions.join(' AND '),
    parameters,
  );
  // The mean of equal values is that value, although sums of binary fractions are rounded.
  const text = `SELECT path_id, CASE WHEN sum(count) = 1 THEN min(ms) ELSE slot * $3::float8 END AS at, min(min) AS min,
      least(max(max), greatest(min(min), sum(mean * count) / sum(count))) AS mean, max(max) AS max
    FROM (SELECT *, floor(ms / $3::float8) AS slot
          FROM (SELECT *, extract(epoch FROM at)::float8 * 1000 AS ms FROM (${source}) s) t) u
    GROUP BY path_id, slot ORDER BY path_id, slot`;
  const rows = wanted.length === 0 ? [] : await database.query<SeriesRow>({ text }, parameters);
  const byPath = new Map<number, SeriesPoint[]>();
  for (const { path_id: path, at, min, mean, max } of rows) {
    const points = byPath.get(path) ?? [];
    points.push({ at: Math.round(at), min, mean, max });
    byPath.set(path, points);
  }
  const last = new Map(latest.map((point) => [point.path, point]));
  return paths.map((path) => ({
    path,
    points: byPath.get(numbers.get(path) ?? -1) ?? [],
    latest: last.get(path)?.value,
    latestAt: last.get(path)?.at,
  }));
}

/** Of one row of a series; undefined for points. */
const rowMs = { RAW: undefined, HOUR: 3_600_000, DAY: 86_400_000 } as const;

export async function readFleetSeries(
  database: Database,
  { filter, since, until, plan }: FleetSeriesRequest,
  pathId: number,
  within: DeviceFilter | undefined,
): Promise<readonly FleetSeriesPoint[]> {
  const parameters: unknown[] = [pathId, plan.stepMs / 1_000];
  const visible = await visibleSeries(database, within, parameters);
  if (visible === undefined) return [];
  const conditions = ['m.path_id = $1', await seriesCondition(database, filter, parameters), visible.condition];
  const progress = await readProgress(database);
  const span = { level: plan.level, since, until, progress, asDecimals: false };
  const source = seriesSource(span, conditions.join(' AND '), parameters);
  const slot = 'floor(extract(epoch FROM at)::float8 / $2::float8) AS slot';
  const decimal = (value: string) => (plan.level === 'RAW' ? value : `(${value})::real::text::float8`);
  // Without grouping again where it is needless, 240,000 values take 280 ms instead of 1,120.
  const ofDevices =
    plan.stepMs === rowMs[plan.level]
      ? `SELECT ${slot}, min, mean, max FROM (${source}) s`
      : `SELECT ${slot}, device_id, min(min) AS min, sum(mean * count) / sum(count) AS mean, max(max) AS max
         FROM (${source}) s GROUP BY 1, 2`;
  const rows = await database.query<FleetRow>(
    {
      text: `${visible.with} SELECT slot, ${decimal('min(min)')} AS min, ${decimal('avg(mean)')} AS mean,
               ${decimal('max(max)')} AS max, count(*)::int AS devices,
               ${decimal('percentile_disc(0.95) WITHIN GROUP (ORDER BY mean)')} AS p95
             FROM (${ofDevices}) d GROUP BY slot ORDER BY slot`,
    },
    parameters,
  );
  return rows.map(({ slot, min, mean, max, p95, devices }) => ({
    at: slot * plan.stepMs,
    min,
    mean: between(mean, min, max),
    max,
    p95: between(p95, min, max),
    deviceCount: devices,
  }));
}

/** Over `m.device_id`. Without a filter, devices count that were removed since. */
export async function seriesCondition(
  database: Database,
  filter: DeviceFilter | undefined,
  parameters: unknown[],
): Promise<string> {
  if (filter === undefined || Object.values(filter).every((value) => value === undefined)) return 'TRUE';
  const condition = listedDeviceCondition(await resolveFilter(database, filter), parameters);
  return `m.device_id IN (SELECT v.id FROM measurement_device v JOIN device d ON d.id = v.device_id
    WHERE ${condition})`;
}

/** What a scope sees of series. `condition` is over `m.device_id` and `m.at`, and needs `with`. */
interface VisibleSeries {
  readonly with: string;
  readonly condition: string;
}

/**
 * One look-up per device, because a condition on each series takes seconds in a large fleet.
 * Undefined: no history is visible.
 */
export async function visibleSeries(
  database: Database,
  within: DeviceFilter | undefined,
  parameters: unknown[],
): Promise<VisibleSeries | undefined> {
  if (within === undefined) return { with: '', condition: 'TRUE' };
  const scope = await scopeOf(database, within);
  const since = scope.since(parameters);
  if (since === undefined) return undefined;
  return {
    with: `WITH visible AS MATERIALIZED (SELECT v.id, ${since} AS since
      FROM measurement_device v JOIN device d ON d.id = v.device_id WHERE ${scope.condition(parameters)})`,
    condition: 'EXISTS (SELECT FROM visible WHERE visible.id = m.device_id AND m.at >= visible.since)',
  };
}

interface SeriesRow extends SeriesPoint {
  readonly [column: string]: unknown;
  readonly path_id: number;
}

interface FleetRow extends Omit<SeriesPoint, 'at'> {
  readonly [column: string]: unknown;
  readonly slot: number;
  readonly p95: number;
  readonly devices: number;
}

function between(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
