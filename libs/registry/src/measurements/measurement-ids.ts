/**
 * The small numbers of devices and paths in measurements, cached for writers. Retention removes
 * paths, in any process: readers ask the database, and a write finds a number that is gone.
 */
import type { Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';

/** Paths of one fleet. */
export const fleetPathsMax = 2_000;

/** Devices whose numbers are remembered: some 20 MB. */
const devicesMax = 200_000;

/** A path that a full fleet refuses is in each batch. */
const DRAW_PAUSE_MS = 10_000;

export class MeasurementIds {
  readonly #devices = new Map<string, number>();
  readonly #paths = new Map<string, number>();
  #drawsFrom = 0;

  constructor(private readonly database: Queryable) {}

  /** The number of each device; makes those that are missing. */
  async ofDevices(deviceIds: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const unknown = [...new Set(deviceIds)].filter((id) => !this.#devices.has(id));
    if (unknown.length === 0) return this.#devices;
    if (this.#devices.size + unknown.length > devicesMax) this.#devices.clear();
    await this.database.query(
      {
        text: `INSERT INTO measurement_device (device_id) SELECT u.id FROM unnest($1::text[]) AS u(id)
               WHERE NOT EXISTS (SELECT FROM measurement_device m WHERE m.device_id = u.id)
               ORDER BY u.id ON CONFLICT DO NOTHING`,
      },
      [unknown],
    );
    const rows = await this.database.query<{ id: number; device_id: string }>(
      { text: 'SELECT id, device_id FROM measurement_device WHERE device_id = ANY($1::text[])' },
      [[...new Set([...unknown, ...deviceIds])]],
    );
    for (const { id, device_id: deviceId } of rows) this.#devices.set(deviceId, id);
    return this.#devices;
  }

  /** The number of each path; makes those that are missing, unless the fleet is full. */
  async ofPaths(paths: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const wanted = new Set(paths);
    const unknown = [...wanted].filter((path) => !this.#paths.has(path));
    if (unknown.length === 0) return this.#paths;
    await this.database.query(
      {
        text: `INSERT INTO measurement_path (path) SELECT u.path FROM unnest($1::text[]) AS u(path)
               WHERE NOT EXISTS (SELECT FROM measurement_path m WHERE m.path = u.path) ORDER BY u.path
               LIMIT greatest(0, $2 - (SELECT count(*) FROM measurement_path)) ON CONFLICT DO NOTHING`,
      },
      [unknown.map(storableText), fleetPathsMax],
    );
    let found = await this.findPaths(unknown);
    if (found.size < unknown.length && Date.now() >= this.#drawsFrom) {
      if ((await this.#drawFreeNumbers(unknown)) === 0) this.#drawsFrom = Date.now() + DRAW_PAUSE_MS;
      found = await this.findPaths(unknown);
    }
    const removed = this.#remember(found);
    return removed.some((path) => wanted.has(path)) ? this.ofPaths(wanted) : this.#paths;
  }

  /** A number has one path. Returns the paths that had one of these numbers: they were removed. */
  #remember(found: ReadonlyMap<string, number>): readonly string[] {
    const used = new Set(found.values());
    const removed = [...this.#paths].flatMap(([path, id]) => (used.has(id) ? [path] : []));
    this.forgetPaths(removed);
    for (const [path, id] of found) this.#paths.set(path, id);
    return removed;
  }

  /** For paths that were removed: they get a new number. */
  forgetPaths(paths: readonly string[]): void {
    for (const path of paths) this.#paths.delete(path);
  }

  /**
   * After the last number the sequence begins at 1 again, and its next numbers may be in use.
   * Draws enough numbers to find a free one for each path. Returns how many paths got one.
   */
  async #drawFreeNumbers(paths: readonly string[]): Promise<number> {
    const inserted = await this.database.query(
      {
        text: `WITH wanted AS MATERIALIZED (
                 SELECT u.path, row_number() OVER (ORDER BY u.path) AS n FROM unnest($1::text[]) AS u(path)
                 WHERE NOT EXISTS (SELECT FROM measurement_path m WHERE m.path = u.path) ORDER BY u.path
                 LIMIT greatest(0, $2 - (SELECT count(*) FROM measurement_path))
               ), drawn AS MATERIALIZED (
                 SELECT nextval('measurement_path_id_seq')::smallint AS id FROM generate_series(1, (
                   SELECT CASE count(*) WHEN 0 THEN 0 ELSE count(*) + (SELECT count(*) FROM measurement_path) END
                   FROM wanted))
               ), free AS (
                 SELECT d.id, row_number() OVER () AS n FROM drawn d
                 WHERE NOT EXISTS (SELECT FROM measurement_path m WHERE m.id = d.id)
               )
               INSERT INTO measurement_path (id, path) SELECT f.id, w.path FROM wanted w JOIN free f USING (n)
               ON CONFLICT DO NOTHING RETURNING id`,
      },
      [paths.map(storableText), fleetPathsMax],
    );
    return inserted.length;
  }

  /** The numbers of the paths that exist now. */
  async findPaths(paths: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.query<{ id: number; path: string }>(
      { text: 'SELECT id, path FROM measurement_path WHERE path = ANY($1::text[])' },
      [paths.map(storableText)],
    );
    return new Map(rows.map(({ id, path }) => [path, id]));
  }
}
