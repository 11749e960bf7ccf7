/**
 * Charts beside 100 million points of 10,000 devices: seven packed days with a value a minute, and
 * roll-ups of 30 days. The rows are written with SQL. `--only history`.
 */
import { readDeviceSeries, readFleetSeries } from '@flotilla/fleet';
import type { Registry } from '@flotilla/registry';
import type pg from 'pg';
import type { Figure } from '../report.js';
import { withHub } from './bench-hub.js';
import { medianOf } from './median-of.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEVICES = 10_000;
const PACKED_DAYS = 7;
const POINTS_A_DAY = 1_440;
const ROLLED_UP_DAYS = 30;
const PATH = 'bench.status:battery.level';
const CHARTS = 10;
const POINTS = DEVICES * PACKED_DAYS * POINTS_A_DAY;

export function benchLargeHistory(): Promise<readonly Figure[]> {
  return withHub(async ({ registry, database }) => {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    for (let day = ROLLED_UP_DAYS; day > 0; day--) await registry.makePartitions(today - day * DAY_MS);
    await writeHistory(database, today);
    const figure = (name: string, value: number, atMost: number): Figure => ({
      name: `measurements: ${name}, beside ${POINTS / 1e6}M points`,
      value,
      unit: 'ms',
      atMost,
    });
    const fleet = (days: number) => medianOf(CHARTS, () => fleetChart(registry, today, days));
    const bytes = await sizeOf(database, 'measurement_pack');
    return [
      figure('chart of a device, 30 days', await medianOf(CHARTS, (n) => deviceChart(registry, today, n)), 50),
      figure('mean of 10,000 devices, 24 hours', await fleet(1), 500),
      figure('mean of 10,000 devices, 7 days', await fleet(PACKED_DAYS), 500),
      figure('mean of 10,000 devices, 30 days', await fleet(ROLLED_UP_DAYS), 500),
      { name: 'measurements: a packed point of a value a minute', value: bytes / POINTS, unit: 'bytes', atMost: 40 },
    ];
  });
}

async function writeHistory(database: pg.Client, today: number): Promise<void> {
  const until = new Date(today);
  await database.query('INSERT INTO measurement_path (path) VALUES ($1)', [PATH]);
  await database.query(
    `INSERT INTO measurement_device (device_id) SELECT 'bench-' || n FROM generate_series(1, $1::int) n`,
    [DEVICES],
  );
  await database.query(
    `INSERT INTO measurement_series (device_id, path_id, at, value)
     SELECT d.id, p.id, $1, 50 FROM measurement_device d CROSS JOIN measurement_path p WHERE p.path = $2`,
    [until, PATH],
  );
  // Values differ by device and minute, so that they are not stored once.
  await database.query(
    `INSERT INTO measurement_pack (at, device_id, path_id, offsets, values)
     SELECT $1::timestamptz - d.n * interval '1 day', s.device_id, s.path_id,
       (SELECT array_agg(m * 60000 + s.device_id % 1000 ORDER BY m) FROM generate_series(0, $3::int - 1) m),
       (SELECT array_agg(((m * 7 + s.device_id * 13 + d.n) % 1000) / 10.0::float8 ORDER BY m)
        FROM generate_series(0, $3::int - 1) m)
     FROM generate_series(1, $2::int) AS d(n) CROSS JOIN measurement_series s ORDER BY d.n, s.device_id`,
    [until, PACKED_DAYS, POINTS_A_DAY],
  );
  await database.query(
    `INSERT INTO measurement_hour (at, device_id, path_id, count, min, mean, max)
     SELECT h.at, s.device_id, s.path_id, 60, s.device_id % 40, s.device_id % 60, s.device_id % 90
     FROM generate_series($1::timestamptz - $2::int * interval '1 day', $1::timestamptz - interval '1 hour',
       interval '1 hour') AS h(at) CROSS JOIN measurement_series s ORDER BY h.at, s.path_id, s.device_id`,
    [until, ROLLED_UP_DAYS],
  );
  await database.query(
    `INSERT INTO measurement_day (at, device_id, path_id, count, min, mean, max)
     SELECT date_trunc('day', at, 'UTC'), device_id, path_id, sum(count), min(min), avg(mean), max(max)
     FROM measurement_hour GROUP BY 1, path_id, device_id ORDER BY 1, path_id, device_id`,
  );
  await database.query(
    `INSERT INTO measurement_progress (hours_until, packed_until) VALUES ($1, $1)
     ON CONFLICT (is_only) DO UPDATE SET hours_until = $1, packed_until = $1`,
    [until],
  );
  await database.query('VACUUM ANALYZE');
}

async function sizeOf(database: pg.Client, table: string): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>(
    'SELECT sum(pg_total_relation_size(inhrelid)) AS bytes FROM pg_inherits WHERE inhparent = $1::regclass',
    [table],
  );
  return Number(rows[0]?.bytes ?? 0);
}

async function deviceChart(registry: Registry, now: number, n: number): Promise<void> {
  const period = { since: now - ROLLED_UP_DAYS * DAY_MS, until: now, points: 200, now };
  const answer = await readDeviceSeries(registry, `bench-${1 + n * 7}`, [PATH], period);
  if (!('value' in answer) || (answer.value[0]?.points.length ?? 0) < 150) throw new Error('The chart is empty.');
}

async function fleetChart(registry: Registry, now: number, days: number): Promise<void> {
  const period = { since: now - days * DAY_MS, until: now, points: 200, now };
  const answer = await readFleetSeries(registry, { filter: undefined, path: PATH }, period);
  if (!('value' in answer) || answer.value[0]?.deviceCount !== DEVICES) throw new Error('The chart is empty.');
}
