/** Measurements on a real PostgreSQL: what is added is read back, rolled up and packed. */
import type { ChartPlan, SeriesLevel } from '@flotilla/signals';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';
import type { Registry } from '../registry.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The first day of the points; everything is before now, whose partitions there are. */
const START = Math.floor(Date.now() / DAY) * DAY - 2 * DAY;
const PATH = 'self.get_device_status:battery.level';

let fixture: RegistryFixture;
let registry: Registry;

const plan = (level: SeriesLevel, stepMs: number): ChartPlan => ({ level, stepMs, from: START });
const point = (deviceId: string, at: number, value: number, path = PATH) => ({
  deviceId,
  path,
  at,
  value,
  ruleId: 'rule',
});
/** The value of a device at the n-th five minutes. */
const valueAt = (device: number, n: number) => device * 10 + (n % 12);
const read = (level: SeriesLevel, stepMs: number, deviceId = 'd1', since = START, until = START + 2 * DAY) =>
  registry.measurements.series({ deviceId, paths: [PATH, 'none:at.all'], since, until, plan: plan(level, stepMs) });

beforeAll(async () => {
  fixture = await openRegistryFixture();
  ({ registry } = fixture);
  await registry.makePartitions(START);
  for (const device of [1, 2, 3])
    for (let n = 0; n < 36 * 12; n++)
      registry.measurements.add(point(`d${device}`, START + n * 300_000 + 1_000, valueAt(device, n)));
  await vi.waitFor(
    async () => {
      const { rows } = await fixture.raw.query('SELECT count(*)::int AS n FROM measurement');
      expect(rows[0]).toEqual({ n: 3 * 36 * 12 });
    },
    { timeout: 60_000 },
  );
});
afterAll(() => fixture.close());

describe('measurements', () => {
  it('are read as single points, each with its own time, and with the latest value', async () => {
    const [series, none] = await read('RAW', 1_000, 'd2', START, START + HOUR);
    expect(series?.points).toHaveLength(12);
    expect(series?.points[3]).toEqual({ at: START + 901_000, min: 23, mean: 23, max: 23 });
    expect(series?.latest).toBe(valueAt(2, 36 * 12 - 1));
    expect(series?.latestAt).toBe(START + (36 * 12 - 1) * 300_000 + 1_000);
    expect(none).toEqual({ path: 'none:at.all', points: [], latest: undefined, latestAt: undefined });
  });

  it('have no latest value of a time that is not one', async () => {
    registry.measurements.add(point('d9', Number.NEGATIVE_INFINITY, 1, 'samples:absurd'));
    registry.measurements.add(point('d9', START, 2, 'samples:soil'));
    await expect
      .poll(async () => (await registry.measurements.latestOf(['d9'])).get('d9'))
      .toEqual([{ path: 'samples:soil', at: START, value: 2 }]);
    await fixture.raw.query('DELETE FROM measurement WHERE at <= $1', [new Date(START)]);
    await fixture.raw.query('DELETE FROM measurement_series WHERE at <= $1', [new Date(START)]);
  });

  it('are the same from points, roll-ups and packed days', async () => {
    const [fromPoints] = await read('RAW', HOUR);
    expect(fromPoints?.points).toHaveLength(36);
    expect(fromPoints?.points[5]).toEqual({ at: START + 5 * HOUR, min: 10, mean: 15.5, max: 21 });
    expect((await read('HOUR', HOUR))[0]?.points).toEqual(fromPoints?.points);
    const hours = { filter: undefined, path: PATH, since: START, until: START + DAY, plan: plan('HOUR', HOUR) };
    const fleetHours = await registry.measurements.fleetSeries(hours);
    expect(fleetHours).toHaveLength(24);
    expect(fleetHours[5]).toEqual({
      at: START + 5 * HOUR,
      min: 10,
      mean: 25.5,
      max: 41,
      p95: 35.5,
      deviceCount: 3,
    });
    const done = await registry.measurements.keepUp(START + 2 * DAY + HOUR);
    expect(done).toEqual({ hours: 48, days: 0 });
    expect((await read('HOUR', HOUR))[0]?.points).toEqual(fromPoints?.points);
    expect(await registry.measurements.fleetSeries(hours)).toEqual(fleetHours);
    expect(await registry.measurements.keepUp(START + 2 * DAY + HOUR)).toEqual({ hours: 0, days: 2 });
    // The partitions of the days are gone, and their points are packed.
    expect((await fixture.raw.query('SELECT FROM measurement')).rowCount).toBe(0);
    expect((await fixture.raw.query('SELECT FROM measurement_pack')).rowCount).toBe(6);
    expect((await read('RAW', HOUR))[0]?.points).toEqual(fromPoints?.points);
    expect((await read('DAY', DAY))[0]?.points).toEqual([
      { at: START, min: 10, mean: 15.5, max: 21 },
      { at: START + DAY, min: 10, mean: 15.5, max: 21 },
    ]);
    expect(await registry.measurements.chartFacts(PATH)).toEqual({ rawSince: 0, series: 3 });
  });

  it('show when a rule about them would have fired, from points and from roll-ups', async () => {
    await fixture.raw.query("INSERT INTO device (id, dialect, reachability) VALUES ('d1', 'XIAOZHI', 'ALWAYS')");
    const plan = { kind: 'MEASUREMENT' as const, path: PATH, devices: undefined, windowSeconds: 0 };
    const fired = (terms: { below: boolean; threshold: number; forSeconds: number }, level: SeriesLevel = 'RAW') =>
      registry.alertEvaluation.firingTimes({
        plan: { ...plan, ...terms },
        since: START,
        now: START + 2 * DAY,
        graceMs: 0,
        level,
      });
    // Each hour the value climbs from 10 to 21, a step every five minutes.
    const high = await fired({ below: false, threshold: 18, forSeconds: 600 });
    expect(high).toHaveLength(36);
    expect(high?.[0]).toBe(START + 9 * 300_000 + 1_000 + 600_000);
    expect(await fired({ below: false, threshold: 18, forSeconds: 3_000 })).toHaveLength(1);
    expect(await fired({ below: true, threshold: 10, forSeconds: 0 })).toEqual([]);
    expect(await fired({ below: true, threshold: 11, forSeconds: 300 })).toHaveLength(36);
    expect(await fired({ below: false, threshold: 18, forSeconds: 600 }, 'HOUR')).toHaveLength(1);
    await fixture.raw.query("DELETE FROM device WHERE id = 'd1'");
  });

  it('of a fleet are the means of the means of its devices', async () => {
    const request = { filter: undefined, path: PATH, since: START, until: START + DAY, plan: plan('HOUR', 6 * HOUR) };
    const points = await registry.measurements.fleetSeries(request);
    expect(points).toHaveLength(4);
    expect(points[0]).toEqual({ at: START, min: 10, mean: 25.5, max: 41, p95: 35.5, deviceCount: 3 });
  });

  it('are found over devices that exist, with their latest values', async () => {
    await fixture.raw.query(`INSERT INTO device (id, dialect, reachability, tags) VALUES
      ('d1', 'XIAOZHI', 'ALWAYS', '{}'), ('d3', 'XIAOZHI', 'ALWAYS', '{lab}')`);
    const last = START + (36 * 12 - 1) * 300_000 + 1_000;
    expect(await registry.measurements.latestOver({ filter: {}, path: PATH })).toEqual([
      { deviceId: 'd1', value: 21, at: last },
      { deviceId: 'd3', value: 41, at: last },
    ]);
    const beyond = await registry.measurements.latestOver({ filter: { tags: ['lab'] }, path: PATH, above: 40 });
    expect(beyond.map(({ deviceId }) => deviceId)).toEqual(['d3']);
    expect(await registry.measurements.latestOver({ filter: {}, path: PATH, below: 10 })).toEqual([]);
    expect(await registry.measurements.latestOver({ filter: {}, path: PATH, since: last + 1 })).toEqual([]);
    expect(await registry.measurements.pathsOver({ tags: ['lab'] })).toEqual([PATH]);
    expect(await registry.measurements.pathsOver({ tags: ['none'] })).toEqual([]);
  });

  it('of one path too many are refused, and those of the others are kept', async () => {
    await fixture.raw.query(
      `INSERT INTO measurement_path (path) SELECT 'spec:p' || n FROM generate_series(2, 2000) n ON CONFLICT DO NOTHING`,
    );
    const refused: string[] = [];
    registry.measurements.whenRefused((points) => refused.push(...points.map(({ path }) => path)));
    registry.measurements.add(point('d1', START + 3 * DAY, 1, 'spec:new'));
    registry.measurements.add(point('d1', START + 3 * DAY, 2, 'spec:p2'));
    await expect.poll(() => refused, { timeout: 5_000 }).toEqual(['spec:new']);
    const latest = async () => (await registry.measurements.latestOf(['d1'])).get('d1')?.map(({ path }) => path);
    await expect.poll(latest).toEqual([PATH, 'spec:p2']);
  });

  it('of a clock that was set back replace the latest one, and those that come late do not', async () => {
    const now = Date.now();
    const latest = async () => (await registry.measurements.latestOf(['d7'])).get('d7')?.map(({ value }) => value);
    for (const [at, value, expected] of [
      [now + 3 * HOUR, 1, 1],
      [now - 1_000, 2, 2],
      [now - 5 * 60_000, 3, 2],
      [now + 30_000, 4, 4],
      [now, 5, 4],
    ] as const) {
      registry.measurements.add(point('d7', at, value));
      const stored = () => fixture.raw.query('SELECT FROM measurement WHERE at = $1', [new Date(at)]);
      await expect.poll(async () => (await stored()).rowCount, { timeout: 5_000 }).toBe(1);
      expect(await latest()).toEqual([expected]);
    }
  });
});

describe('the shipped recording rules', () => {
  it('are there, latest saved first, and cover batteries, temperatures, networks, memory and samples', async () => {
    const paths = (await registry.recordingRules.list()).map(({ path }) => path);
    expect(paths).toEqual([
      'samples:*',
      'self.get_system_info:minimum_free_heap_size',
      'self.get_device_status:network.signal',
      'self.get_device_status:chip.temperature',
      'self.get_device_status:battery.level',
    ]);
  });
});
