/**
 * Conversations relayed to a voice server: simulated devices speak over both transports and hear
 * their audio again, while tools are called.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { webSocketHello } from '../src/devices/raw-websocket-device.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { startVoiceServer, type VoiceServerProcess } from '../src/voice/voice-server.js';

const TOKEN = 'token-of-the-hub-and-of-no-device';
const devices = { mqtt: '02:00:01:00:00:00', mqttToo: '02:00:01:00:00:01', webSocket: '02:00:02:00:00:00' };

let hub: HubProcess;
let overMqtt: SimulatedFleet;
let overWebSocket: SimulatedFleet;
let echo: VoiceServerProcess;
/** Faulty servers, by their fault. */
const others = new Map<string, VoiceServerProcess>();
/** Keys in the answers to hellos. */
const keys: string[] = [];

const heardBy = (fleet: SimulatedFleet, device: string, atLeast: number) =>
  eventually(
    () => fleet.sound(device),
    ({ heard }) => heard >= atLeast,
    10_000,
  );

function conversationsOf(device: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return eventsOf(hub, device, 'device.conversation');
}

const ended = (device: string, count = 1) =>
  eventually(
    async () => (await conversationsOf(device)).filter(({ state }) => state === 'ended'),
    (found) => found.length >= count,
    10_000,
  );

const talk = (fleet: SimulatedFleet, device: string, packets: number) =>
  fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'talk', packets } });
const hangUp = (fleet: SimulatedFleet, device: string) =>
  fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'hangUp' } });

async function useVoiceServer(device: string, misbehaviour: string): Promise<void> {
  const { updateDevice } = await ask<{ updateDevice: { userErrors: unknown[] } }>(
    hub,
    'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { message } } }',
    { input: { deviceId: device, voiceUrl: others.get(misbehaviour)?.url } },
  );
  expect(updateDevice.userErrors).toEqual([]);
}

describe('voice', () => {
  beforeAll(async () => {
    echo = await startVoiceServer(['--token', TOKEN, '--tool', 'self.get_device_status']);
    for (const misbehaviour of ['dies', 'floods', 'mute'])
      others.set(misbehaviour, await startVoiceServer(['--misbehaviour', misbehaviour]));
    const listed = [...others.values()].map(({ url }) => new URL(url).origin).join();
    const voice = { FLOTILLA_VOICE_URL: echo.url, FLOTILLA_VOICE_URLS: listed, FLOTILLA_VOICE_TOKEN: TOKEN };
    hub = await startHub({ env: { ...voice, FLOTILLA_LOG_LEVEL: 'debug' } });
    overMqtt = startFleet(hub, { devices: 2, seed: 1 });
    overWebSocket = startFleet(hub, {
      devices: 1,
      seed: 2,
      transport: 'websocket',
      args: ['--reconnect-ms', '3600000'],
    });
    for (const device of Object.values(devices)) await deviceThat(hub, device, isOnline);
  });
  afterAll(async () => {
    // Stops the voice server even if the hub did not start.
    await Promise.all(
      [overMqtt, overWebSocket, echo, ...others.values()].map((started: { stop(): Promise<unknown> } | undefined) =>
        started?.stop(),
      ),
    );
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    expect(hub.log()).not.toContain(TOKEN);
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(hub.log()).not.toContain(key);
    removeDataDir(hub.dataDir);
  });

  it('is relayed over MQTT and UDP in both directions, with no packet lost', async () => {
    await talk(overMqtt, devices.mqtt, 20);
    expect(await heardBy(overMqtt, devices.mqtt, 20)).toEqual({ spoken: 20, heard: 20 });
    const called = await callTool(hub, { deviceId: devices.mqtt, tool: 'self.get_device_status' });
    expect(called.outcome).toBe('SUCCEEDED');
    await hangUp(overMqtt, devices.mqtt);
    const [end] = await ended(devices.mqtt);
    expect(end).toMatchObject({
      reason: 'device_goodbye',
      transport: 'MQTT',
      framesFromDevice: 20,
      framesToDevice: 20,
      framesDropped: 0,
    });
  });

  it('is relayed over WebSocket', async () => {
    expect(await heardBy(overWebSocket, devices.webSocket, 10)).toEqual({ spoken: 10, heard: 10 });
    await talk(overWebSocket, devices.webSocket, 5);
    expect(await heardBy(overWebSocket, devices.webSocket, 15)).toEqual({ spoken: 15, heard: 15 });
  });

  it('allows the voice server to call tools, recorded under its name', async () => {
    const [conversation] = await eventually(
      () => Promise.resolve(echo.ended),
      (found) => found.length > 0,
      5_000,
    );
    expect(conversation?.tools).toContain('self.get_device_status');
    expect(conversation?.tools).not.toContain('self.reboot');
    expect(conversation?.answers).toMatchObject([{ content: [{ type: 'text' }], isError: false }]);
    const { calls } = await ask<{ calls: { nodes: { actor: string; outcome: string }[] } }>(
      hub,
      'query ($filter: CallFilter) { calls(filter: $filter) { nodes { actor outcome } } }',
      { filter: { deviceId: devices.mqtt } },
    );
    expect(calls.nodes).toContainEqual({ actor: `voice:${new URL(echo.url).host}`, outcome: 'SUCCEEDED' });
    // One of them is the call over the API before.
    expect(await metric(hub, 'flotilla_calls_total', 'origin="single"', 'outcome="SUCCEEDED"')).toBeGreaterThan(1);
  });

  it('has a new key for each hello, which is in no event and no log', async () => {
    const mac = '02:00:03:00:00:00';
    const device = await RawMqttDevice.connect(hub, mac);
    const hello = JSON.stringify({ ...(JSON.parse(webSocketHello) as object), version: 3, transport: 'udp' });
    const told = () => device.messages.flatMap((text) => /"key":"([0-9a-f]{32})"/.exec(text)?.[1] ?? []);
    for (const count of [1, 2]) {
      device.say(hello);
      await eventually(
        () => told().length,
        (found) => found === count,
        10_000,
      );
    }
    keys.push(...new Set(told()));
    device.drop();
    await ended(mac, 2);
    expect(JSON.stringify(await conversationsOf(mac))).not.toMatch(new RegExp(keys.join('|')));
  });

  it.each([
    ['dies', 'backend_lost'],
    ['floods', 'backend_flooded'],
  ])('of a server that %s ends alone', async (misbehaviour, reason) => {
    const device = devices.mqttToo;
    const before = (await conversationsOf(device)).filter(({ state }) => state === 'ended').length;
    await useVoiceServer(device, misbehaviour);
    await talk(overMqtt, device, 20);
    expect((await ended(device, before + 1)).at(-1)).toMatchObject({ reason });
    expect((await callTool(hub, { deviceId: device, tool: 'self.get_device_status' })).outcome).toBe('SUCCEEDED');
    await talk(overMqtt, devices.mqtt, 5);
    const { heard } = await overMqtt.sound(devices.mqtt);
    await heardBy(overMqtt, devices.mqtt, heard + 5);
    await hangUp(overMqtt, devices.mqtt);
  });

  it('continues without voice if the server does not answer', async () => {
    const device = devices.mqttToo;
    await useVoiceServer(device, 'mute');
    await talk(overMqtt, device, 5);
    await eventually(
      () => conversationsOf(device),
      (found) => found.some(({ state }) => state === 'unavailable'),
      10_000,
    );
    expect((await callTool(hub, { deviceId: device, tool: 'self.get_device_status' })).outcome).toBe('SUCCEEDED');
  });

  it('shows the state of voice servers, and reports when one stops answering', async () => {
    const mute = others.get('mute')?.url ?? '';
    interface Shown {
      readonly url: string;
      readonly state: string;
      readonly lastError: string | null;
    }
    const shown = await eventually(
      async () =>
        (await ask<{ voiceServers: Shown[] }>(hub, '{ voiceServers { url state since conversations lastError } }'))
          .voiceServers,
      (servers) => servers.some(({ url, state }) => url === mute && state === 'UNWELL'),
      10_000,
    );
    expect(shown.find(({ url }) => url === mute)?.lastError).toMatch(/did not answer in time/);
    expect(shown.find(({ url }) => url === echo.url)).toMatchObject({ state: 'WELL', lastError: null });
    const { events } = await ask<{ events: { nodes: { deviceId: string | null; data: unknown }[] } }>(
      hub,
      '{ events(filter: { types: ["voice.server_unwell"] }) { nodes { deviceId data } } }',
    );
    expect(events.nodes).toContainEqual({
      deviceId: null,
      data: { backend: new URL(mute).host, problem: 'it did not answer in time' },
    });
    expect(await metric(hub, 'flotilla_voice_server_up', `backend="${new URL(mute).host}"`)).toBe(0);
  });
});
