/**
 * New devices that know only an OTA address: how they are enrolled, stay connected, and are
 * removed. The simulated ones behave like firmware.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, isOnline, viewDevice } from '../src/devices/device-api.js';
import { someUuid } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { ask, send } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { askOta } from '../src/devices/ota-client.js';
import {
  approveEnrolment,
  changeDevice,
  createEnrolmentLink,
  enrolmentsOf,
  setTransport,
} from '../src/devices/provisioning-api.js';
import { startFleet, type FleetOptions, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

/** Thirty times as fast as the firmware; a restart still takes two seconds. */
const FAST = ['--speed', '30'];
const first = (seed: number): string => `02:00:${seed.toString(16).padStart(2, '0')}:00:00:00`;

describe('enrolment', () => {
  let hub: HubProcess;
  const fleets: SimulatedFleet[] = [];

  beforeAll(async () => {
    hub = await startHub({ embedded: true, env: { FLOTILLA_DEVICE_AUTH: '' } });
  });
  afterEach(async () => {
    for (const fleet of fleets.splice(0)) {
      expect(fleet.notices.filter(({ event }) => event === 'crash')).toEqual([]);
      await fleet.stop();
    }
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
  });

  function start(options: Partial<FleetOptions>): SimulatedFleet {
    const fleet = startFleet(hub, {
      devices: 1,
      profile: 'lamp',
      ota: `${hub.httpUrl}/ota/`,
      ...options,
      args: [...FAST, ...(options.args ?? [])],
    });
    fleets.push(fleet);
    return fleet;
  }

  /** A device that showed its code, was approved, and is online with its tools. */
  async function enrolled(options: Partial<FleetOptions> & { readonly seed: number }): Promise<SimulatedFleet> {
    const fleet = start(options);
    expect(await approveEnrolment(hub, await fleet.codeOf(first(options.seed)))).toEqual([]);
    await deviceThat(hub, first(options.seed), isReady);
    return fleet;
  }

  it('takes a device from nothing to a call over MQTT: OTA, code, approval, activation, tools', async () => {
    const id = first(31);
    const fleet = start({ seed: 31, profile: 'screen-camera' });
    const code = await fleet.codeOf(id);
    expect(code).toMatch(/^\d{6}$/);
    const pending = (await enrolmentsOf(hub)).find(({ deviceId }) => deviceId === id);
    expect(pending).toMatchObject({ code, replaces: false, model: 'lichuang-dev' });
    expect(await viewDevice(hub, id)).toBeNull();
    expect(await approveEnrolment(hub, code)).toEqual([]);
    const device = await deviceThat(hub, id, isReady);
    expect(device).toMatchObject({ model: 'lichuang-dev', firmwareVersion: '2.4.2' });
    expect(device.sessions[0]?.transport).toBe('MQTT');
    expect(
      await callTool(hub, { deviceId: id, tool: 'self.audio_speaker.set_volume', arguments: { volume: 7 } }),
    ).toMatchObject({
      outcome: 'SUCCEEDED',
    });
    expect(await enrolmentsOf(hub)).toEqual([]);
  });

  it('shows the code only to users who may approve', async () => {
    const id = first(32);
    await start({ seed: 32 }).codeOf(id);
    const create = 'mutation { createApiKey(name: "viewer", scopes: [DEVICES_READ]) { key } }';
    const { data } = await send(hub, create);
    const { key } = (data?.['createApiKey'] ?? {}) as { key?: string };
    const seen = await send(hub, '{ enrolments { nodes { deviceId code } } }', {}, key ?? '');
    expect(JSON.stringify(seen)).not.toMatch(/"code":"\d{6}"/);
  });

  it('does the same over WebSocket for a device with that setting', async () => {
    const id = first(33);
    const fleet = await enrolled({ seed: 33 });
    await setTransport(hub, id, 'WEBSOCKET');
    await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'reboot' } });
    await eventually(
      async () => {
        // It stays idle after its boot until a conversation begins.
        await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'helloNow' } });
        return viewDevice(hub, id);
      },
      (device) => device !== null && isReady(device) && device.sessions[0]?.transport === 'WEBSOCKET',
    );
    expect(await callTool(hub, { deviceId: id, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
  });

  it('admits two hundred boards by one link, with its tags, and not one more', async () => {
    const ota = await createEnrolmentLink(hub, { maxDevices: 200, tags: ['hall-7'] });
    start({ seed: 34, devices: 201, ota });
    const query = '{ devices(first: 1, filter: { tags: ["hall-7"], presence: ONLINE }) { totalCount } }';
    const isIn = async () => (await ask<{ devices: { totalCount: number } }>(hub, query)).devices.totalCount;
    await eventually(isIn, (count) => count === 200);
    const pending = (await enrolmentsOf(hub)).filter(({ deviceId }) => deviceId.startsWith('02:00:22:'));
    expect(pending).toHaveLength(1);
  });

  it('omits the secret from later answers, and the device keeps its stored one', async () => {
    const id = first(35);
    const fleet = await enrolled({ seed: 35 });
    const { epoch = 0 } = (await viewDevice(hub, id))?.sessions[0] ?? {};
    await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'reboot' } });
    await deviceThat(hub, id, (device) => isReady(device) && (device.sessions[0]?.epoch ?? 0) > epoch);
    expect(fleet.notices.filter(({ event }) => event === 'code')).toHaveLength(1);
  });

  it('makes an erased board wait as a replacement, and keeps the present one until the approval', async () => {
    const id = first(36);
    const fleet = await enrolled({ seed: 36 });
    const { body } = await askOta(hub, { mac: id, uuid: someUuid });
    expect(body.mqtt).not.toHaveProperty('client_id');
    expect(await approveEnrolment(hub, body.activation?.code ?? '')).toEqual(['CONFLICT']);
    await fleet.perform({ cmd: 'disconnect', device: id, forMs: 50 });
    await deviceThat(hub, id, (device) => isReady(device) && device.sessions.length > 1);
    expect(await callTool(hub, { deviceId: id, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });

    const shown = fleet.codesOf(id);
    await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'eraseFlash' } });
    const code = await fleet.codeOf(id, shown.length);
    expect((await enrolmentsOf(hub)).find((pending) => pending.code === code)).toMatchObject({
      deviceId: id,
      replaces: true,
    });
    expect(await approveEnrolment(hub, code, true)).toEqual([]);
    await deviceThat(hub, id, (device) => isReady(device) && device.sessions.length > 2);
  });

  it('rotates a credential: the old one works until the device has fetched the new one', async () => {
    const id = first(37);
    const fleet = await enrolled({ seed: 37 });
    expect(await changeDevice(hub, 'rotateDeviceCredential', id)).toEqual([]);
    await fleet.perform({ cmd: 'disconnect', device: id, forMs: 50 });
    await deviceThat(hub, id, (device) => isReady(device) && device.sessions.length === 2);
    await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'reboot' } });
    await deviceThat(hub, id, (device) => isReady(device) && device.sessions.length === 3);
    expect(fleet.codesOf(id)).toHaveLength(1);
  });

  it('disconnects a removed device, rejects its credential, and asks for an enrolment at its next boot', async () => {
    const id = first(38);
    const fleet = await enrolled({ seed: 38 });
    expect(await changeDevice(hub, 'removeDevice', id)).toEqual([]);
    await eventually(
      () => fleet.problems,
      (problems) => problems.includes('DEVICE_REFUSED'),
    );
    expect(await viewDevice(hub, id)).toBeNull();
    await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'reboot' } });
    expect(await approveEnrolment(hub, await fleet.codeOf(id, 1))).toEqual([]);
    await deviceThat(hub, id, isReady);
  });

  it('notices the lost Wi-Fi of a device when it reconnects', async () => {
    const id = first(39);
    const fleet = await enrolled({ seed: 39 });
    await fleet.perform({ cmd: 'disconnect', device: id, how: 'silent', forMs: 300 });
    const device = await deviceThat(
      hub,
      id,
      ({ sessions, ...rest }) => isReady({ sessions, ...rest }) && sessions.length === 2,
    );
    expect(device.sessions[1]?.closeReason).toBe('taken_over');
    expect(await callTool(hub, { deviceId: id, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
  });

  it('gets its devices back after a restart and after kill -9', async () => {
    const ids = [first(40), first(41)];
    for (const seed of [40, 41]) await enrolled({ seed });
    const { dataDir, httpPort, mqttPort } = hub;
    const env = {
      FLOTILLA_DEVICE_AUTH: '',
      FLOTILLA_HTTP_PORT: String(httpPort),
      FLOTILLA_MQTT_PORT: String(mqttPort),
    };
    for (const end of ['stop', 'kill'] as const) {
      await hub[end]();
      hub = await startHub({ dataDir, embedded: true, env });
      for (const id of ids) await deviceThat(hub, id, isReady);
    }
  });
});

function isReady(device: Parameters<typeof isOnline>[0]): boolean {
  return isOnline(device) && device.tools.length > 3;
}
