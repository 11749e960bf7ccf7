/**
 * `FLOTILLA_MQTT_PORT=off` without a certificate: no device is sent to MQTT over TCP, and all of
 * them work over WebSocket.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { callTool } from '../src/devices/device-api.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

const DEVICES = 3;

let hub: HubProcess;
let fleet: SimulatedFleet;

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_MQTT_PORT: 'off', FLOTILLA_DEVICE_AUTH: 'credentials' } });
  fleet = startFleet(hub, { devices: DEVICES, ota: await createEnrolmentLink(hub, { maxDevices: DEVICES }), seed: 21 });
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

describe('a hub without plain MQTT', () => {
  it('names no MQTT port when it is ready', () => {
    expect(hub.mqttPort).toBe(0);
  });

  it('sends a device that it does not know to its WebSocket', async () => {
    const headers = { 'device-id': '02:5e:7a:10:c4:77', 'client-id': '6f8c5a0e-1111-4222-8333-123456789abc' };
    const answer = (await (
      await fetch(`${hub.httpUrl}/ota/`, { method: 'POST', headers, body: '{}' })
    ).json()) as object;
    expect(answer).not.toHaveProperty('mqtt');
    expect(answer).toMatchObject({ websocket: { url: `ws://127.0.0.1:${hub.httpPort}/xiaozhi/v1/`, version: 1 } });
    expect(answer).not.toHaveProperty('websocket.token');
  });

  it('sends devices of an enrolment link there, and calls them', async () => {
    const query = '{ devices { nodes { id transport presence } } }';
    // On WebSocket a device is connected in conversations only: each is spoken to until it is.
    const { devices } = await eventually(
      async () => {
        await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'helloNow' } });
        return ask<{ devices: { nodes: { id: string; transport: string; presence: string }[] } }>(hub, query);
      },
      (seen) => seen.devices.nodes.filter(({ presence }) => presence === 'ONLINE').length === DEVICES,
      30_000,
    );
    expect(devices.nodes.map(({ transport }) => transport)).toEqual(Array(DEVICES).fill('WEBSOCKET'));
    const answer = await callTool(hub, { deviceId: devices.nodes[0]?.id ?? '', tool: 'self.get_device_status' });
    expect(answer.outcome).toBe('SUCCEEDED');
  });

  it('shows the WebSocket settings of a credential that is issued for a device of either transport', async () => {
    const register = `mutation {
      registerDevice(input: { deviceId: "02:5e:7a:10:c4:78", dialect: XIAOZHI, transport: MQTT }) {
        credential userErrors { message }
      }
    }`;
    const { registerDevice } = await ask<{ registerDevice: { credential: Record<string, unknown> } }>(hub, register);
    expect(registerDevice.credential).not.toHaveProperty('endpoint');
    expect(registerDevice.credential).toMatchObject({
      url: expect.stringContaining('/xiaozhi/v1/'),
      token: expect.any(String),
    });
  });

  it('still takes MQTT over WebSocket', async () => {
    const device = await RawMqttDevice.dial(hub, 'websocket');
    device.hello({ clientId: 'GID_flotilla@@@02_5e_7a_10_c4_79@@@x' });
    expect(await device.connack()).toBe(5);
    await device.closed();
  });
});
