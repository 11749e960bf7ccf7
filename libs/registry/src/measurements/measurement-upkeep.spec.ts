/** Roll-ups on a real PostgreSQL, by a clock that runs ahead and is set right. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';
import type { Registry } from '../registry.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Math.floor(Date.now() / DAY) * DAY - 2 * DAY;
const PATH = 'self.get_device_status:battery.level';

let fixture: RegistryFixture;
let registry: Registry;

beforeAll(async () => {
  fixture = await openRegistryFixture();
  ({ registry } = fixture);
  await registry.makePartitions(START);
});
afterAll(() => fixture.close());

/** Points of one device, written before it resolves. */
async function store(...points: readonly (readonly [at: number, value: number])[]): Promise<void> {
  for (const [at, value] of points)
    registry.measurements.add({ deviceId: 'd1', path: PATH, at: START + at, value, ruleId: 'rule' });
  const text = 'SELECT FROM measurement WHERE at = ANY($1)';
  const times = points.map(([at]) => new Date(START + at));
  const written = async () => (await fixture.raw.query(text, [times])).rowCount;
  await expect.poll(written, { timeout: 10_000 }).toBe(points.length);
}

/** Per hour from `since` on: its smallest and largest value. */
async function hours(since: number, until: number): Promise<readonly (readonly [hour: number, ...number[]])[]> {
  const [series] = await registry.measurements.series({
    deviceId: 'd1',
    paths: [PATH],
    since: START + since,
    until: START + until,
    plan: { level: 'HOUR', stepMs: HOUR, from: START },
  });
  return (series?.points ?? []).map(({ at, min, max }) => [(at - START) / HOUR, min, max]);
}

describe('the roll-ups of measurements', () => {
  it('have the hours that pass again after a clock that was ahead is set right', async () => {
    await store([10 * HOUR + 10 * MINUTE, 1]);
    // It is half past ten, and the clock is three hours ahead.
    await registry.measurements.keepUp(START + 13.5 * HOUR);
    await registry.measurements.keepUp(START + 10.75 * HOUR);
    await store([10 * HOUR + 50 * MINUTE, 2], [11 * HOUR + 10 * MINUTE, 3], [12 * HOUR + 10 * MINUTE, 4]);
    const expected = [
      [10, 1, 2],
      [11, 3, 3],
      [12, 4, 4],
    ];
    expect(await hours(10 * HOUR, 13 * HOUR)).toEqual(expected);
    expect(await registry.measurements.keepUp(START + 14.25 * HOUR)).toEqual({ hours: 4, days: 0 });
    expect(await hours(10 * HOUR, 13 * HOUR)).toEqual(expected);
  });

  it('have also what was packed when the clock was ahead over midnight', async () => {
    await store([22 * HOUR + 5 * MINUTE, 5]);
    expect(await registry.measurements.keepUp(START + DAY + HOUR)).toMatchObject({ days: 1 });
    await registry.measurements.keepUp(START + 22.5 * HOUR);
    await store([22 * HOUR + 40 * MINUTE, 6]);
    await registry.measurements.keepUp(START + DAY + HOUR);
    expect(await hours(22 * HOUR, DAY)).toEqual([[22, 5, 6]]);
  });

  it('have points that came after their hour or day was rolled up', async () => {
    const day = 2 * DAY;
    await store([day + 10 * HOUR, 4], [day + 11 * HOUR, 1]);
    await registry.measurements.keepUp(START + day + 13 * HOUR);
    // A ring of two hours is read: its last value is of an hour that is not rolled up.
    await store([day + 11.5 * HOUR, 2], [day + 13.25 * HOUR, 9]);
    // A write that is repeated, because its answer was lost, counts nothing twice.
    await store([day + 11.5 * HOUR, 2], [day + 12.5 * HOUR, 3]);
    const expected = [
      [day / HOUR + 10, 4, 4],
      [day / HOUR + 11, 1, 2],
      [day / HOUR + 12, 3, 3],
      [day / HOUR + 13, 9, 9],
    ];
    expect(await hours(day, day + DAY)).toEqual(expected);
    await registry.measurements.keepUp(START + day + 15 * HOUR);
    expect(await hours(day, day + DAY)).toEqual(expected);
    await registry.measurements.keepUp(START + day + DAY + HOUR);
    await store([day + 20 * HOUR, 11]);
    const { rows } = await fixture.raw.query('SELECT count, min, mean, max FROM measurement_day WHERE at = $1', [
      new Date(START + day),
    ]);
    expect(rows).toEqual([{ count: 6, min: 1, mean: 5, max: 11 }]);
  });
});
