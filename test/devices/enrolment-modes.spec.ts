/**
 * Enrolment without a person at the device: only registered devices, or everybody on a trusted
 * network; and answers while PostgreSQL is unreachable.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceThat, eventsOf, isOnline } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { someUuid } from '../src/devices/device-credentials.js';
import { registerMqttDevice } from '../src/devices/issued-credentials.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { askOta } from '../src/devices/ota-client.js';
import { createEnrolmentLink, enrolmentsOf } from '../src/devices/provisioning-api.js';
import { openSeverablePostgres, type SeverablePostgres } from '../src/hub/severable-postgres.js';
import { startFleet } from '../src/devices/simulated-fleet.js';

const stranger = '02:00:2a:00:00:00';

describe.each([
  {
    mode: 'closed',
    story: 'rejects an unknown device without a trace, and admits it by a link',
    judge: refuseStrangers,
  },
  { mode: 'open', story: 'admits every device at once, but none in the place of another', judge: letStrangersIn },
])('FLOTILLA_ENROLMENT=$mode', ({ mode, story, judge }) => {
  let postgres: SeverablePostgres;
  let hub: HubProcess;

  beforeAll(async () => {
    postgres = await openSeverablePostgres();
    const access = { FLOTILLA_ADMIN_KEY: 'a-key-for-the-story-of-the-modes-0123456789', FLOTILLA_DEVICE_AUTH: '' };
    hub = await startHub({ env: { ...access, DATABASE_URL: postgres.url, FLOTILLA_ENROLMENT: mode } });
  });
  afterAll(async () => {
    await postgres.restore();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
    await postgres.close();
  });

  it(story, () => judge(hub));

  it('answers known devices from memory while PostgreSQL is unreachable', async () => {
    const { pathname } = new URL(await createEnrolmentLink(hub, { maxDevices: 1 }));
    const board = { mac: '02:00:2b:00:00:00', uuid: someUuid };
    const { body } = await askOta(hub, { ...board, path: pathname });
    expect((await askOta(hub, board)).body.mqtt).toEqual(body.mqtt);
    await postgres.cut();
    expect(await askOta(hub, board)).toMatchObject({ status: 200, body: { mqtt: body.mqtt } });
    expect((await askOta(hub, { mac: '02:00:2c:00:00:00', uuid: someUuid })).status).toBe(503);
    await postgres.restore();
    await eventually(
      () => askOta(hub, { mac: '02:00:2c:00:00:00', uuid: someUuid }).then(({ status }) => status),
      (status) => status === (mode === 'closed' ? 403 : 200),
    );
  });
});

async function refuseStrangers(hub: HubProcess): Promise<void> {
  const refused = await askOta(hub, { mac: stranger, uuid: someUuid });
  expect(refused.status).toBe(403);
  const [registered, own] = ['02:00:2a:00:00:01', '02:00:2a:00:00:02'];
  await registerMqttDevice(hub, registered);
  await registerMqttDevice(hub, own, { clientId: someUuid });
  expect(await askOta(hub, { mac: registered, uuid: someUuid })).toEqual(refused);
  expect(await askOta(hub, { mac: own, uuid: randomUUID() })).toEqual(refused);
  expect((await askOta(hub, { mac: own, uuid: someUuid })).body.mqtt).toHaveProperty('password');
  await eventually(
    () => eventsOf(hub, own, 'enrolment.refused'),
    (events) => events.length === 1,
  );
  const fleet = startFleet(hub, {
    devices: 1,
    profile: 'lamp',
    seed: 42,
    ota: `${hub.httpUrl}/ota/`,
    args: ['--speed', '30'],
  });
  await eventually(
    () => fleet.problems,
    (problems) => problems.includes('OTA_FAILED'),
  );
  await fleet.stop();
  expect(await enrolmentsOf(hub)).toEqual([]);
  const { pathname } = new URL(await createEnrolmentLink(hub, { maxDevices: 1 }));
  const { body } = await askOta(hub, { mac: stranger, uuid: someUuid, path: pathname });
  expect(body.mqtt).toHaveProperty('password');
}

async function letStrangersIn(hub: HubProcess): Promise<void> {
  const fleet = startFleet(hub, {
    devices: 3,
    profile: 'lamp',
    seed: 42,
    ota: `${hub.httpUrl}/ota/`,
    args: ['--speed', '30'],
  });
  await deviceThat(hub, stranger, (device) => isOnline(device) && device.tools.length > 3);
  const forged = await askOta(hub, { mac: stranger, uuid: someUuid });
  expect(forged.body.activation?.code).toMatch(/^\d{6}$/);
  expect(forged.body.mqtt).not.toHaveProperty('client_id');
  expect(fleet.notices).toEqual([]);
  await fleet.stop();
}
