/**
 * Boards that an operator registered in advance: what admits them, what another device with their
 * MAC gets, and the audit trail.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { callTool, deviceThat, eventsOf, isOnline } from '../src/devices/device-api.js';
import { registerMqttDevice, registerWebSocketDevice } from '../src/devices/issued-credentials.js';
import { askOta } from '../src/devices/ota-client.js';
import { approveEnrolment, changeDevice, createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

let hub: HubProcess;

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_DEVICE_AUTH: 'credentials' } });
});
afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
  removeDataDir(hub.dataDir);
});

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const bindingsOf = async (mac: string) => {
  const query = `query ($subject: String!) {
    auditEntries(filter: { subject: $subject, action: "device.client_bound" }) { nodes { actor data } }
  }`;
  const { auditEntries } = await ask<{ auditEntries: { nodes: { actor: string; data: { by: string } }[] } }>(
    hub,
    query,
    {
      subject: `device:${mac}`,
    },
  );
  return auditEntries.nodes.map(({ actor, data }) => [actor, data.by]);
};
const isProven = async (mac: string, uuid: string) =>
  'client_id' in ((await askOta(hub, { mac, uuid })).body.mqtt ?? {});

async function converse(mac: string, clientId: string, token: string): Promise<RawWebSocketDevice> {
  const device = await RawWebSocketDevice.dial(hub, mac, { 'client-id': clientId, authorization: `Bearer ${token}` });
  device.say(webSocketHello);
  await deviceThat(hub, mac, isOnline);
  return device;
}

describe('a registered board', () => {
  it('with a WebSocket credential connects with it and its own Client-Id, which is bound to it', async () => {
    const [mac, uuid] = ['02:00:00:00:0c:01', randomUUID()];
    const token = await registerWebSocketDevice(hub, mac);
    const device = await converse(mac, uuid, token);
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    await expect(
      RawWebSocketDevice.dial(hub, mac, { 'client-id': randomUUID(), authorization: `Bearer ${token}` }),
    ).rejects.toThrow('401');
    expect(device.isClosed).toBe(false);
    device.drop();
    expect(await bindingsOf(mac)).toEqual([['hub', 'token']]);
    (await converse(mac, uuid, token)).drop();
  });

  it('is not given to the first device with its MAC, whose code an operator may approve or reject', async () => {
    const [mac, uuid] = ['02:00:00:00:0c:02', randomUUID()];
    const login = await registerMqttDevice(hub, mac);
    const { status, body } = await askOta(hub, { mac, uuid });
    expect([status, Object.keys(body.mqtt ?? {})]).toEqual([
      200,
      ['endpoint', 'publish_topic', 'subscribe_topic', 'keepalive'],
    ]);
    expect(JSON.stringify(body)).not.toContain(login.clientId);
    expect(await bindingsOf(mac)).toEqual([]);
    expect(await approveEnrolment(hub, body.activation?.code ?? '')).toEqual([]);
    expect((await askOta(hub, { mac, uuid })).body.mqtt).toMatchObject({
      client_id: login.clientId,
      password: login.password.toString(),
    });
    expect(await isProven(mac, randomUUID())).toBe(false);
    expect(await bindingsOf(mac)).toEqual([[expect.any(String), 'code']]);
  });

  it('is admitted by the Client-Id of its registration, which no answer and no record contains', async () => {
    const [mac, uuid] = ['02:00:00:00:0c:03', randomUUID()];
    await registerMqttDevice(hub, mac, { clientId: uuid });
    expect(await isProven(mac, randomUUID())).toBe(false);
    expect(await isProven(mac, uuid)).toBe(true);
    expect(await bindingsOf(mac)).toEqual([[expect.any(String), 'registration']]);
    const trail = await ask(
      hub,
      'query ($subject: String!) { auditEntries(filter: { subject: $subject }) { nodes { data } } }',
      {
        subject: `device:${mac}`,
      },
    );
    expect(JSON.stringify(trail)).toContain('"clientId":"***"');
    expect(JSON.stringify(trail)).not.toContain(uuid);
    expect(hub.log()).not.toContain(uuid);
  });

  it('is admitted by trust on first use, and a second Client-Id is an event', async () => {
    const [mac, uuid] = ['02:00:00:00:0c:04', randomUUID()];
    await registerMqttDevice(hub, mac, { admitWithoutCodeUntil: inAnHour() });
    expect(await isProven(mac, uuid)).toBe(true);
    expect(await isProven(mac, randomUUID())).toBe(false);
    expect(await isProven(mac, uuid)).toBe(true);
    const told = async () => [
      await eventsOf(hub, mac, 'enrolment.approved'),
      await eventsOf(hub, mac, 'enrolment.second_client_id'),
    ];
    const isTold = ([approved, second]: readonly (readonly unknown[])[]) =>
      approved?.length === 1 && second?.length === 1;
    expect(await eventually(told, isTold)).toMatchObject([[{ by: 'first_use' }], [{ remoteAddress: '127.0.0.1' }]]);
    expect(await bindingsOf(mac)).toEqual([['hub', 'first_use']]);
  });

  it('is admitted by a link', async () => {
    const [mac, uuid] = ['02:00:00:00:0c:05', randomUUID()];
    await registerMqttDevice(hub, mac);
    const { pathname } = new URL(await createEnrolmentLink(hub, { maxDevices: 1 }));
    expect((await askOta(hub, { mac, uuid, path: pathname })).body.mqtt).toHaveProperty('password');
    expect(await bindingsOf(mac)).toEqual([['hub', 'link']]);
  });

  it('that uses its credential keeps it, also when another device asks at the OTA address', async () => {
    const [mac, uuid] = ['02:00:00:00:0c:06', randomUUID()];
    const login = await registerMqttDevice(hub, mac, { admitWithoutCodeUntil: inAnHour() });
    const device = await RawMqttDevice.dial(hub);
    device.hello(login);
    expect(await device.connack()).toBe(0);
    await deviceThat(hub, mac, isOnline);
    const { pathname } = new URL(await createEnrolmentLink(hub, { maxDevices: 1 }));
    for (const path of ['/ota/', pathname]) {
      const { body } = await askOta(hub, { mac, uuid, path });
      expect([body.activation?.code.length, 'client_id' in (body.mqtt ?? {})], path).toEqual([6, false]);
      expect(await approveEnrolment(hub, body.activation?.code ?? ''), path).toEqual(['CONFLICT']);
    }
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    device.drop();
  });

  it('that was removed is unknown again, with a code and without its former credential', async () => {
    const [mac, uuid] = ['02:00:00:00:0c:07', randomUUID()];
    const token = await registerWebSocketDevice(hub, mac, { clientId: uuid });
    expect(await changeDevice(hub, 'removeDevice', mac)).toEqual([]);
    await expect(
      RawWebSocketDevice.dial(hub, mac, { 'client-id': uuid, authorization: `Bearer ${token}` }),
    ).rejects.toThrow('401');
    expect((await askOta(hub, { mac, uuid })).body.activation).toBeDefined();
  });
});
