/**
 * A device that sends too much or reconnects too often is slowed, disconnected or made to wait. One
 * event reports it, and no other device is affected.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { clientIdOf, mqttLogin, webSocketHeaders } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { handshake, statusOf } from '../src/api/http-status.js';
import type { HubProcess } from '../src/hub/hub-process.js';
import { startHubUnderFire, type HubUnderFire } from '../src/fuzz/hub-under-fire.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice } from '../src/devices/raw-websocket-device.js';

const turnOn = 'self.lamp.turn_on';

describe('a device that is too much', () => {
  let fire: HubUnderFire;
  let hub: HubProcess;

  beforeAll(async () => {
    fire = await startHubUnderFire({ env: { FLOTILLA_DEVICE_AUTH: 'hmac', FLOTILLA_RECONNECTS_MAX: '8' } });
    ({ hub } = fire);
  });
  afterAll(() => fire.stop());

  const counted = (name: string) => metric(hub, 'flotilla_gateway_events_total', `name="${name}"`);

  it('that uses the identity of a connected device is reported once and must wait', async () => {
    const mac = '02:00:00:00:0c:01';
    let current = await RawMqttDevice.connect(hub, mac);
    const codes: (number | undefined)[] = [];
    // The two boards take turns, as they do when each comes back after it was evicted.
    for (let turn = 0; turn < 10; turn++) {
      const clone = await RawMqttDevice.dial(hub);
      clone.hello({ clientId: clientIdOf(mac), ...mqttLogin(hub.deviceSecret, clientIdOf(mac)) });
      const code = await clone.connack();
      codes.push(code);
      if (code === 0) current = clone;
      else await clone.closed();
    }
    expect(codes.slice(-6)).toEqual(Array(6).fill(3));
    expect(codes.slice(0, 2)).toEqual([0, 0]);
    const events = await eventually(
      () => eventsOf(hub, mac, 'device.flapping'),
      (found) => found.length > 0,
    );
    expect(events).toMatchObject([
      { transport: 'MQTT', retryAfterSeconds: 10, advice: expect.stringContaining('rotateDeviceCredential') },
    ]);
    expect(await metric(hub, 'flotilla_flapping_devices')).toBe(1);
    expect(await counted('flapping_episodes')).toBe(1);
    // Whichever way it comes.
    expect(
      await statusOf(hub, {
        path: '/xiaozhi/v1/',
        headers: { ...handshake, ...webSocketHeaders(hub.deviceSecret, mac) },
      }),
    ).toBe(503);
    await deviceThat(hub, mac, isOnline);
    expect(current.isClosed).toBe(false);
    expect(await callTool(hub, { deviceId: mac, tool: turnOn })).toMatchObject({ outcome: 'SUCCEEDED' });
    current.drop();
    await fire.expectUnharmed();
  });

  it.each([
    // Pings are the smallest packets there are: so many of them arrive in one piece that reading
    // slowly does not help.
    [
      'MQTT',
      '02:00:00:00:0c:02',
      async (mac: string) => {
        const device = await RawMqttDevice.connect(hub, mac);
        return { device, flood: () => device.stream.write(Buffer.from('c000'.repeat(20_000), 'hex')) };
      },
    ],
    [
      'WebSocket',
      '02:00:00:00:0c:03',
      async (mac: string) => {
        const device = await RawWebSocketDevice.connect(hub, mac);
        return { device, flood: () => device.writeBytes(Buffer.from('898000000000'.repeat(20_000), 'hex')) };
      },
    ],
  ] as const)('because it sends without end over %s is cut and reported', async (_transport, mac, connect) => {
    const { device, flood } = await connect(mac);
    await deviceThat(hub, mac, isOnline);
    const cutBefore = await counted('traffic_cut');
    flood();
    await device.closed(15_000);
    await deviceThat(
      hub,
      mac,
      ({ presence, sessions }) => presence === 'OFFLINE' && sessions[0]?.closeReason === 'traffic_exceeded',
    );
    expect(await counted('traffic_cut')).toBe(cutBefore + 1);
    const events = await eventually(
      () => eventsOf(hub, mac, 'device.throttled'),
      (found) => found.some(({ action }) => action === 'cut'),
    );
    expect(events.length).toBeLessThanOrEqual(2);
    await fire.expectUnharmed();
  });

  it('for a moment, as after a bad minute of Wi-Fi, loses nothing', async () => {
    const mac = '02:00:00:00:0c:04';
    const device = await RawMqttDevice.connect(hub, mac);
    await deviceThat(hub, mac, isOnline);
    // A second beyond what it may send at once.
    for (let n = 0; n < 2_200; n++) device.say('{"type":"listen","state":"detect","text":"late"}');
    expect(await callTool(hub, { deviceId: mac, tool: turnOn })).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(device.isClosed).toBe(false);
    await eventually(
      () => eventsOf(hub, mac, 'device.throttled'),
      (events) => events.length === 1 && events[0]?.['action'] === 'slowed',
    );
    expect((await viewDevice(hub, mac))?.sessions).toHaveLength(1);
    device.drop();
    await fire.expectUnharmed();
  });
});
