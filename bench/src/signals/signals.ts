/**
 * Measurements over an embedded PostgreSQL: points stored per second, bytes of a point before and
 * after its day is packed, and the times of charts. `--only signals`.
 */
import { readDeviceSeries, readFleetSeries } from '@flotilla/fleet';
import type { Registry } from '@flotilla/registry';
import type pg from 'pg';
import type { Figure } from '../report.js';
import { withHub } from './bench-hub.js';
import { medianOf } from './median-of.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEVICES = 1_000;
const PATHS = ['battery.level', 'chip.temperature', 'network.signal', 'heap'].map((path) => `bench.status:${path}`);
/** A point every six minutes of a day. */
const POINTS_EACH = 240;
const POINTS = DEVICES * PATHS.length * POINTS_EACH;
/** Points that wait at most, so that none is dropped. */
const WAITING_MAX = 50_000;
const ROLLED_UP_DAYS = 30;
const CHARTS = 30;

export function benchSignals(): Promise<readonly Figure[]> {
  return withHub(async ({ registry, database }) => {
    // Tomorrow: the worker of the hub would roll up a day of the past while it is stored.
    const day = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS;
    await registry.makePartitions(day);
    const stored = await storePoints(registry, day);
    const raw = await bytesPerPoint(database, 'measurement');
    const brin = await indexBytes(database, 'measurement', 'brin');
    const btree = await indexBytes(database, 'measurement', 'btree');
    const from = performance.now();
    await registry.measurements.keepUp(day + DAY_MS + HOUR_MS);
    await registry.measurements.keepUp(day + DAY_MS + HOUR_MS);
    const packMs = performance.now() - from;
    const packed = await bytesPerPoint(database, 'measurement_pack');
    await rollUpDaysBefore(database, day);
    return [
      { name: 'measurements: points stored', value: stored, unit: 'points/s', atLeast: 20_000 },
      { name: 'measurements: a point of today, heap', value: raw - brin - btree, unit: 'bytes' },
      { name: 'measurements: a point of today, btree', value: btree, unit: 'bytes' },
      { name: 'measurements: a point of today, BRIN', value: brin, unit: 'bytes' },
      { name: 'measurements: a point once packed', value: packed, unit: 'bytes', atMost: 40 },
      { name: 'measurements: mean over 7 days', value: (raw + 6 * packed) / 7, unit: 'bytes', atMost: 40 },
      { name: 'measurements: roll-ups and packing of a day', value: packMs / (POINTS / 1e6), unit: 'ms/M points' },
      {
        name: 'measurements: chart of a device, 30 days',
        value: await deviceChart(registry, day),
        unit: 'ms',
        atMost: 50,
      },
      {
        name: 'measurements: chart of 1,000 devices, 1 day',
        value: await fleetChart(registry, day),
        unit: 'ms',
        atMost: 500,
      },
    ];
  });
}

/** Resolves to points per second, from the first one to the last write. */
async function storePoints(registry: Registry, day: number): Promise<number> {
  const { measurements } = registry;
  const from = performance.now();
  for (let n = 0; n < POINTS_EACH; n++) {
    const at = day + n * (DAY_MS / POINTS_EACH);
    for (let device = 0; device < DEVICES; device++)
      for (const [index, path] of PATHS.entries())
        measurements.add({ deviceId: `bench-${device}`, path, at, value: (device + n + index) % 100, ruleId: 'bench' });
    await waitBelow(registry, WAITING_MAX);
  }
  await waitBelow(registry, 1);
  const seconds = (performance.now() - from) / 1_000;
  if (measurements.status().droppedTotal > 0) throw new Error('Points were dropped; the figure says nothing.');
  return POINTS / seconds;
}

async function waitBelow(registry: Registry, depth: number): Promise<void> {
  while (registry.measurements.status().depth >= depth) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function bytesPerPoint(database: pg.Client, table: string): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(inhrelid)) AS bytes FROM pg_inherits WHERE inhparent = $1::regclass`,
    [table],
  );
  return Number(rows[0]?.bytes ?? 0) / POINTS;
}

async function indexBytes(database: pg.Client, table: string, method: string): Promise<number> {
  const { rows } = await database.query<{ bytes: string | null }>(
    `SELECT sum(pg_relation_size(x.indexrelid)) AS bytes FROM pg_inherits i JOIN pg_index x ON x.indrelid = i.inhrelid
     JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_am a ON a.oid = c.relam
     WHERE i.inhparent = $1::regclass AND a.amname = $2`,
    [table, method],
  );
  return Number(rows[0]?.bytes ?? 0) / POINTS;
}

/** Roll-ups of the days before, as a hub has them that ran for a month. */
async function rollUpDaysBefore(database: pg.Client, day: number): Promise<void> {
  await database.query(
    `INSERT INTO measurement_hour (at, device_id, path_id, count, min, mean, max)
     SELECT h.at - d.n * interval '1 day', h.device_id, h.path_id, h.count, h.min, h.mean, h.max
     FROM generate_series(1, $2::int) AS d(n) CROSS JOIN measurement_hour h WHERE h.at >= $1
     ORDER BY 1, h.path_id, h.device_id`,
    [new Date(day), ROLLED_UP_DAYS],
  );
  await database.query('ANALYZE measurement_hour');
}

/** Median over several devices. */
async function deviceChart(registry: Registry, day: number): Promise<number> {
  const now = day + DAY_MS;
  const period = { since: now - ROLLED_UP_DAYS * DAY_MS, until: now, points: 200, now };
  return medianOf(CHARTS, async (n) => {
    const answer = await readDeviceSeries(registry, `bench-${n * 7}`, PATHS.slice(0, 1), period);
    if (!('value' in answer) || (answer.value[0]?.points.length ?? 0) < 150) throw new Error('The chart is empty.');
  });
}

async function fleetChart(registry: Registry, day: number): Promise<number> {
  const now = day + DAY_MS;
  return medianOf(CHARTS, async () => {
    const target = { filter: undefined, path: PATHS[0] ?? '' };
    const answer = await readFleetSeries(registry, target, { since: day, until: now, points: 200, now });
    if (!('value' in answer) || answer.value[0]?.deviceCount !== DEVICES) throw new Error('The chart is empty.');
  });
}
