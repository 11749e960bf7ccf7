/** Points on their way to the table: accepted without waiting, written in batches. */
import { clockSkewMsMax } from '@flotilla/mcp';
import { BatchWriter } from '../database/batch-writer.js';
import type { Queryable } from '../database/database.js';
import { sql, SqlFile } from '../database/sql-file.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import type { NewPoint } from './measurement.js';
import type { MeasurementIds } from './measurement-ids.js';

/** A larger statement saves nothing. */
const ROWS_PER_WRITE = 5_000;
/** Some five seconds of 20,000 points a second: 20 MB. */
const DEPTH_MAX = 100_000;
/** A chart need not be younger, and larger batches cost less. */
const GATHER_MS = 200;

const INSERT = new SqlFile(new URL('./insert-points.sql', import.meta.url), {
  name: 'insert-points',
  parameters: {
    at: sql.array(sql.float),
    value: sql.array(sql.float),
    device: sql.array(sql.integer),
    path: sql.array(sql.integer),
    latestMax: sql.timestamp,
    number: sql.array(sql.integer),
    name: sql.array(sql.text()),
  },
  row: { path: sql.integer },
});
/** Retention removes paths. One that is removed again at once is not worth a further try. */
const TRIES_MAX = 3;

/** A point whose path finds no number, because the fleet has as many as it may. */
export type RefusedPoint = Pick<NewPoint, 'deviceId' | 'path' | 'ruleId'>;

export class MeasurementWriter {
  readonly #writer: BatchWriter<NewPoint, undefined>;
  #droppedTotal = 0;
  #onRefused: ((points: readonly RefusedPoint[]) => void) | undefined;

  constructor(
    private readonly database: Queryable,
    private readonly ids: MeasurementIds,
    logger: RegistryLogger,
  ) {
    this.#writer = new BatchWriter<NewPoint, undefined>({
      name: 'measurement',
      write: (points) => this.#write(points),
      rowsPerWrite: ROWS_PER_WRITE,
      depthMax: DEPTH_MAX,
      gatherMs: GATHER_MS,
      pauseMs: GATHER_MS,
      logger,
    });
  }

  /** Never waits. False where the point is dropped: the writer is full. */
  add(point: NewPoint): boolean {
    if (this.#writer.isFull) {
      this.#droppedTotal += 1;
      return false;
    }
    this.#writer.add(point).catch(() => {
      this.#droppedTotal += 1;
    });
    return true;
  }

  /** Calls the one listener with points that were refused. It must not throw. */
  whenRefused(listener: (points: readonly RefusedPoint[]) => void): void {
    this.#onRefused = listener;
  }

  status(): WriterStatus {
    return { ...this.#writer.status(), droppedTotal: this.#droppedTotal };
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  async #write(points: readonly NewPoint[]): Promise<readonly undefined[]> {
    let pending = points;
    for (let tries = 0; pending.length > 0 && tries < TRIES_MAX; tries++) pending = await this.#store(pending);
    this.#droppedTotal += pending.length;
    return points.map(() => undefined);
  }

  /** Resolves to the points whose path was removed since its number was cached. */
  async #store(points: readonly NewPoint[]): Promise<readonly NewPoint[]> {
    const paths = await this.ids.ofPaths(points.map(({ path }) => path));
    const refused = points.filter(({ path }) => !paths.has(path));
    if (refused.length > 0) this.#onRefused?.(refused);
    const devices = await this.ids.ofDevices(points.map(({ deviceId }) => deviceId));
    const rows = points
      .flatMap((point) => {
        const [device, number] = [devices.get(point.deviceId), paths.get(point.path)];
        return device === undefined || number === undefined ? [] : [{ point, device, path: number }];
      })
      .sort((one, other) => one.device - other.device || one.path - other.path);
    if (rows.length === 0) return [];
    const names = new Map(rows.map(({ point, path }) => [path, point.path]));
    const missing = await INSERT.run(this.database, {
      at: rows.map(({ point }) => point.at),
      value: rows.map(({ point }) => point.value),
      device: rows.map(({ device }) => device),
      path: rows.map(({ path }) => path),
      // Points have the time of this process or of other gateways, not of PostgreSQL.
      latestMax: new Date(Date.now() + clockSkewMsMax),
      number: [...names.keys()],
      name: [...names.values()],
    });
    const removed = new Set(missing.map(({ path }) => path));
    const again = rows.flatMap(({ point, path }) => (removed.has(path) ? [point] : []));
    this.ids.forgetPaths(again.map(({ path }) => path));
    return again;
  }
}
