/** Measurements: accepted without waiting, read as series of one device or of a fleet. */
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { IS_ONLINE, listedDeviceCondition } from '../devices/device-condition.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import type {
  ChartFacts,
  FleetAggregate,
  FleetSeriesPoint,
  FleetSeriesRequest,
  LatestOfDevice,
  LatestOver,
  LatestPoint,
  NewPoint,
  Series,
  SeriesRequest,
} from './measurement.js';
import { MeasurementIds } from './measurement-ids.js';
import { keepUp } from './measurement-upkeep.js';
import type { UpkeepDone } from './measurement-upkeep.js';
import { MeasurementWriter } from './measurement-writer.js';
import type { RefusedPoint } from './measurement-writer.js';
import { readChartFacts, readFleetSeries, readSeries, seriesCondition, visibleSeries } from './series-reads.js';

const LATEST_MAX = 100_000;
const PATHS_LISTED_MAX = 2_000;
export class MeasurementStore {
  readonly #ids: MeasurementIds;
  readonly #writer: MeasurementWriter;

  constructor(
    private readonly database: Database,
    logger: RegistryLogger,
  ) {
    this.#ids = new MeasurementIds(database);
    this.#writer = new MeasurementWriter(database, this.#ids, logger);
  }

  /** Never waits. False where the point is dropped. */
  add(point: NewPoint): boolean {
    return this.#writer.add(point);
  }

  /** Calls the one listener with points whose path is one too many for the fleet. */
  whenRefused(listener: (points: readonly RefusedPoint[]) => void): void {
    this.#writer.whenRefused(listener);
  }

  /** Makes roll-ups and packs whole days. May run in several processes. */
  keepUp(now: number): Promise<UpkeepDone> {
    return keepUp(this.database, now);
  }

  /** The latest point of each path, for each of these devices. */
  async latestOf(deviceIds: readonly string[]): Promise<ReadonlyMap<string, readonly LatestPoint[]>> {
    const rows = await this.database.query<{ device_id: string; path: string; at: Date; value: number }>(
      {
        name: 'latest-measurements',
        // Former versions stored the time -infinity, of samples with an absurd interval.
        text: `SELECT v.device_id, p.path, s.at, s.value FROM measurement_device v
               JOIN measurement_series s ON s.device_id = v.id JOIN measurement_path p ON p.id = s.path_id
               WHERE v.device_id = ANY($1::text[]) AND isfinite(s.at) ORDER BY p.path`,
      },
      [deviceIds],
    );
    const found = new Map<string, LatestPoint[]>(deviceIds.map((id) => [id, []]));
    for (const { device_id: id, path, at, value } of rows) found.get(id)?.push({ path, at: at.getTime(), value });
    return found;
  }

  /** The latest value of one path for each device that matches, by device id. */
  async latestOver({
    filter,
    path,
    since,
    seenSince,
    above,
    below,
    limit = LATEST_MAX,
  }: LatestOver): Promise<readonly LatestOfDevice[]> {
    const parameters: unknown[] = [];
    const conditions = [
      listedDeviceCondition(await resolveFilter(this.database, filter), parameters),
      `p.path = ${bind(parameters, storableText(path))}`,
    ];
    if (since !== undefined) conditions.push(`s.at >= ${bind(parameters, new Date(since))}`);
    if (seenSince !== undefined) {
      const at = bind(parameters, new Date(seenSince));
      conditions.push(`(s.at >= ${at} OR d.last_seen_at >= ${at} OR ${IS_ONLINE})`);
    }
    const beyond = [
      ...(above === undefined ? [] : [`s.value > ${bind(parameters, above)}`]),
      ...(below === undefined ? [] : [`s.value < ${bind(parameters, below)}`]),
    ];
    if (beyond.length > 0) conditions.push(`(${beyond.join(' OR ')})`);
    const rows = await this.database.query<{ id: string; value: number; at: Date }>(
      {
        text: `SELECT d.id, s.value, s.at FROM measurement_path p JOIN measurement_series s ON s.path_id = p.id
               JOIN measurement_device v ON v.id = s.device_id JOIN device d ON d.id = v.device_id
               WHERE ${conditions.join(' AND ')} ORDER BY d.id LIMIT ${bind(parameters, Math.min(limit, LATEST_MAX))}`,
      },
      parameters,
    );
    return rows.map(({ id, value, at }) => ({ deviceId: id, value, at: at.getTime() }));
  }

  /** The latest values of the whole fleet, combined per path; the paths with most devices first. */
  aggregates(since: number, pathsMax: number): Promise<readonly FleetAggregate[]> {
    return this.database.query<FleetAggregate & Readonly<Record<string, unknown>>>(
      {
        name: 'aggregate-measurements',
        text: `SELECT p.path, count(*)::int AS devices, min(s.value) AS min, avg(s.value) AS mean, max(s.value) AS max
               FROM measurement_series s JOIN measurement_path p ON p.id = s.path_id WHERE s.at >= $1
               GROUP BY p.path ORDER BY devices DESC, p.path LIMIT $2`,
      },
      [new Date(since), pathsMax],
    );
  }

  /** The paths that devices which match have reported, by name. */
  async pathsOver(filter: DeviceFilter | undefined, within?: DeviceFilter): Promise<readonly string[]> {
    const parameters: unknown[] = [];
    const condition = await seriesCondition(this.database, filter, parameters);
    const visible = await visibleSeries(this.database, within, parameters);
    if (visible === undefined) return [];
    const rows = await this.database.query<{ path: string }>(
      {
        text: `${visible.with} SELECT p.path FROM measurement_path p
               WHERE EXISTS (SELECT FROM measurement_series m
                             WHERE m.path_id = p.id AND ${condition} AND ${visible.condition})
               ORDER BY p.path LIMIT ${PATHS_LISTED_MAX}`,
      },
      parameters,
    );
    return rows.map(({ path }) => path);
  }

  /** The devices with this path, and since when there are single points. */
  chartFacts(path?: string): Promise<ChartFacts> {
    return readChartFacts(this.database, path);
  }

  /** One series for each path, in their order. Unknown paths have no points. */
  async series(request: SeriesRequest): Promise<readonly Series[]> {
    const [latest, numbers] = await Promise.all([
      this.latestOf([request.deviceId]),
      this.#ids.findPaths(request.paths),
    ]);
    return readSeries(this.database, request, { latest: latest.get(request.deviceId) ?? [], numbers });
  }

  /**
   * Each device has one mean per interval; the fleet's mean and p95 are over these. `within` is the
   * access scope of the viewer.
   */
  async fleetSeries(request: FleetSeriesRequest, within?: DeviceFilter): Promise<readonly FleetSeriesPoint[]> {
    const number = (await this.#ids.findPaths([request.path])).get(request.path);
    return number === undefined ? [] : readFleetSeries(this.database, request, number, within);
  }

  status(): WriterStatus {
    return this.#writer.status();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
