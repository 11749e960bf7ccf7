/** What a viewer with an access scope sees of roll-ups that begin before its history does. */
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FleetView } from '../access-scope/fleet-view.js';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';

const DAY = 86_400_000;
const PATH = 'samples:soil';
const today = Math.floor(Date.now() / DAY) * DAY;
let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
  await fixture.registry.makePartitions(today);
});
afterAll(() => fixture.close());

it('a roll-up of the day in which a device came into the scope is hidden, that of the next day is not', async () => {
  const { raw, registry } = fixture;
  const device = { deviceId: 'board' as DeviceId, name: undefined, tags: ['shop'] };
  await registry.enrolments.register([{ ...device, dialect: 'XIAOZHI', transport: 'MQTT' }], { actor: 'admin' });
  const tomorrow = today + DAY;
  await raw.query(`INSERT INTO measurement_device (id, device_id) VALUES (1, 'board')`);
  await raw.query('INSERT INTO measurement_path (id, path) VALUES (1, $1)', [PATH]);
  await raw.query(
    `INSERT INTO measurement_day (at, device_id, path_id, count, min, mean, max)
     VALUES ($1, 1, 1, 9, -50, 0, 50), ($2, 1, 1, 9, 1, 2, 3)`,
    [new Date(today), new Date(tomorrow)],
  );
  await raw.query('INSERT INTO measurement_progress (hours_until, packed_until) VALUES ($1, $1)', [
    new Date(tomorrow + DAY),
  ]);
  const plan = { level: 'DAY', stepMs: DAY, from: today - DAY } as const;
  const request = { deviceId: 'board', paths: [PATH], since: today - DAY, until: tomorrow + DAY, plan };
  const timesOf = async (stores: Pick<FleetView, 'measurements'>) =>
    (await stores.measurements.series(request))[0]?.points.map(({ at }) => at);
  expect(await timesOf(registry)).toEqual([today, tomorrow]);
  const view = registry.viewFor({ id: 'KEY:shop', devices: { tags: ['shop'] } });
  expect(await timesOf(view)).toEqual([tomorrow]);
  const ofFleet = { filter: undefined, path: PATH, since: today - DAY, until: tomorrow + DAY, plan };
  const fleetTimesOf = async ({ measurements }: Pick<FleetView, 'measurements'>) =>
    (await measurements.fleetSeries(ofFleet)).map(({ at }) => at);
  expect(await fleetTimesOf(registry)).toEqual([today, tomorrow]);
  expect(await fleetTimesOf(view)).toEqual([tomorrow]);
});

it('a path that was last reported before a device came into the scope is not listed', async () => {
  const { raw, registry } = fixture;
  await raw.query(`INSERT INTO measurement_path (id, path) VALUES (2, 'samples:former'), (3, 'samples:later')`);
  await raw.query(
    `INSERT INTO measurement_series (device_id, path_id, at, value)
     VALUES (1, 2, now() - interval '1 day', 1), (1, 3, now() + interval '1 day', 1)`,
  );
  const view = registry.viewFor({ id: 'KEY:shop', devices: { tags: ['shop'] } });
  expect(await registry.measurements.pathsOver(undefined)).toEqual(['samples:former', 'samples:later']);
  expect(await view.measurements.pathsOver(undefined)).toEqual(['samples:later']);
});
