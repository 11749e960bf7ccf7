import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { openLocalBus } from '@flotilla/bus';
import type { Bus, FeedEvent, RoutedCall } from '@flotilla/bus';
import type { CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import { openRegistry } from '@flotilla/registry';
import type { ProcessLease, Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import type { SettledCall } from '@flotilla/session';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { OpenAuth } from './device-auth.js';
import { realClock, silentLogger } from './door.suite.js';
import { answerAsFirmware } from './firmware.suite.js';
import type { FirmwareOptions } from './firmware.suite.js';
import { Gateway } from './gateway.js';
import type { GatewayOptions } from './gateway.js';
import { MqttDevice } from './mqtt-device.suite.js';
import type { SessionStores } from './session-record.js';

const lampId = '02:5e:7a:10:c4:9f' as DeviceId;

let database: TestDatabase;
let registry: Registry;
let lease: ProcessLease;
let bus: Bus;
let stage: Stage;

interface Stage {
  readonly gateway: Gateway;
  readonly mqttPort: number;
  readonly httpPort: number;
  readonly events: FeedEvent[];
  readonly presences: (string | undefined)[];
  close(): Promise<void>;
}

beforeAll(async () => {
  database = await openTestDatabase();
  bus = await openLocalBus({ databaseUrl: database.databaseUrl, logger: silentLogger });
});

afterAll(async () => {
  await bus.close();
  await database.close();
});

beforeEach(async () => {
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  lease = await registry.takeLease();
  stage = await setStage(lease.id);
});

afterEach(async () => {
  await stage.close();
  await lease.release();
  await registry.close();
});

async function setStage(gatewayId: HubProcessId, change: Partial<GatewayOptions> = {}): Promise<Stage> {
  const gateway = new Gateway({
    ...{ gatewayId, registry, bus, clock: realClock, auth: new OpenAuth(), logger: silentLogger },
    udp: { host: '127.0.0.1', port: 0 },
    limits: { retryDelayMs: 10, closingTimeoutMs: 50 },
    ...change,
  });
  await gateway.start();
  const mqtt = createServer((socket) => gateway.acceptMqtt(socket)).listen(0, '127.0.0.1');
  const http = createHttpServer().listen(0, '127.0.0.1');
  http.on('upgrade', (request, socket, head) => gateway.upgrades.get((request.url ?? '').split('?')[0] ?? '')?.(request, socket, head));
  await Promise.all([once(mqtt, 'listening'), once(http, 'listening')]);
  const [events, presences]: [FeedEvent[], (string | undefined)[]] = [[], []];
  const endings = [
    bus.feed.subscribe('event', (event) => events.push(event)),
    bus.feed.subscribe('device', ({ presence }) => presences.push(presence)),
  ];
  const close = async () => {
    await gateway.stop();
    for (const end of endings) end();
    mqtt.close();
    http.close();
  };
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  return { gateway, mqttPort: portOf(mqtt), httpPort: portOf(http), events, presences, close };
}

async function connectLamp(options: FirmwareOptions & { readonly clientId?: string } = {}): Promise<MqttDevice> {
  const device = await MqttDevice.dial(stage.mqttPort);
  device.answer = (text) => answerAsFirmware(text, options);
  device.connect({ clientId: options.clientId ?? 'GID_lab@@@02_5e_7a_10_c4_9f@@@one' });
  return device;
}

async function entry(newerThan = 0) {
  return vi.waitFor(async () => {
    const found = await bus.directory.lookup(lampId);
    if (found === undefined || found.epoch <= newerThan) throw new Error('not in the directory yet');
    return found;
  });
}

function call(change: Partial<RoutedCall> = {}): Promise<SettledCall> {
  const now = Date.now();
  const request = {
    callId: '01932f3e-0000-7000-8000-000000000001' as CallId,
    tool: 'self.lamp.turn_on',
    arguments: {},
    queueDeadlineAt: now + 2000,
    callTimeoutMs: 2000,
  };
  return new Promise((resolve) => {
    stage.gateway.callServer.call({ deviceId: lampId, call: request, ...change }, resolve);
  });
}

async function event(type: string, number = 1): Promise<FeedEvent> {
  return vi.waitFor(() => {
    const found = stage.events.filter((one) => one.type === type)[number - 1];
    if (found === undefined) throw new Error(`no ${type} yet`);
    return found;
  });
}

describe('a device that connects', () => {
  it('is greeted, asked for its tools, written down and announced', async () => {
    await connectLamp();
    const { epoch, toolSetHash, gatewayId } = await entry();
    expect(gatewayId).toBe(lease.id);
    const row = await registry.devices.find(lampId);
    expect(row).toMatchObject({
      presence: 'ONLINE',
      model: 'bread-compact-wifi',
      firmwareVersion: '2.4.2',
      transport: 'MQTT',
      epoch,
      toolSetHash,
    });
    expect(row?.reachability).toBe('ALWAYS');
    const toolSet = toolSetHash && (await registry.toolSets.get(toolSetHash));
    expect(toolSet && toolSet.tools.map(({ name, schemaKnown }) => [name, schemaKnown])).toEqual([['self.lamp.turn_on', true]]);
    expect((await event('device.connected')).data).toEqual({ transport: 'MQTT', remoteAddress: '127.0.0.1', epoch });
    expect(stage.presences).toEqual(['ONLINE']);
    expect(stage.gateway.status().sessions).toEqual([{ state: 'ready', transport: 'MQTT', count: 1 }]);
  });

  it('runs calls', async () => {
    await connectLamp();
    const { epoch } = await entry();
    const settled = await call({ epoch });
    expect(settled.outcome).toMatchObject({ kind: 'SUCCEEDED', result: { content: [{ type: 'text', text: 'did self.lamp.turn_on' }] } });
  });

  it('is offline as soon as it is gone, and says why in an event', async () => {
    const device = await connectLamp();
    await entry();
    device.write({ cmd: 'disconnect' });
    expect((await event('device.disconnected')).data).toMatchObject({ reason: 'device_closed' });
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'OFFLINE' });
    expect(await bus.directory.lookup(lampId)).toBeUndefined();
    expect((await call()).outcome).toMatchObject({ kind: 'NOT_SENT', error: { code: 'DEVICE_OFFLINE' } });
  });

  it('comes over WebSocket as well', async () => {
    const headers = { 'Device-Id': lampId, 'Client-Id': 'somebody' };
    const socket = new WebSocket(`ws://127.0.0.1:${stage.httpPort}/xiaozhi/v1/`, { headers });
    socket.on('message', (data) => {
      const reply = answerAsFirmware((data as Buffer).toString());
      if (reply !== undefined) socket.send(reply);
    });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'hello', version: 1, features: { mcp: true }, transport: 'websocket' }));
    await entry();
    expect(await registry.devices.find(lampId)).toMatchObject({ transport: 'WEBSOCKET', reachability: 'IN_CONVERSATION' });
    expect((await call()).outcome.kind).toBe('SUCCEEDED');
    socket.terminate();
    expect((await event('device.disconnected')).data).toMatchObject({ reason: 'connection_lost' });
  });

  it('has its notifications written as events, large ones without their params', async () => {
    const device = await connectLamp();
    await entry();
    const notify = (params: unknown) =>
      device.publish(JSON.stringify({ session_id: '', type: 'mcp', payload: { jsonrpc: '2.0', method: 'notifications/state', params } }));
    notify({ on: true });
    expect((await event('device.notification')).data).toEqual({ method: 'notifications/state', params: { on: true } });
    notify({ text: 'x'.repeat(9000) });
    expect((await event('device.notification', 2)).data).toEqual({ method: 'notifications/state', truncated: true });
  });
});

describe('a second connection of a device', () => {
  it("takes over, also with another client id, and the first one's end changes nothing", async () => {
    const first = await connectLamp({ silentOn: ['tools/call'] });
    const { epoch } = await entry();
    const pending = call({ epoch });
    await vi.waitFor(() => expect(first.messages.some((text) => text.includes('tools/call'))).toBe(true));
    await connectLamp({ clientId: 'GID_lab@@@02_5E_7A_10_C4_9F@@@two' });
    expect((await pending).outcome).toMatchObject({ kind: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } });
    await first.closed();
    const newer = await entry(epoch);
    expect((await event('device.disconnected')).data).toEqual({ reason: 'taken_over', epoch });
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', epoch: newer.epoch });
    expect((await call({ epoch: newer.epoch })).outcome.kind).toBe('SUCCEEDED');
    expect((await call({ epoch })).outcome).toMatchObject({ kind: 'NOT_SENT', error: { code: 'DEVICE_OFFLINE' } });
    expect(stage.gateway.status().counts).toContainEqual({ name: 'takeover_all', count: 1 });
    expect(stage.presences).not.toContain('OFFLINE');
  });

  it('ends rightly when connections follow each other faster than they are written', async () => {
    let last: MqttDevice | undefined;
    for (let round = 0; round < 8; round += 1) last = await connectLamp({ version: `2.4.${round}` });
    await vi.waitFor(async () =>
      expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', firmwareVersion: '2.4.7' }),
    );
    const { epoch } = await entry();
    expect((await registry.devices.find(lampId))?.epoch).toBe(epoch);
    expect((await call({ epoch })).outcome.kind).toBe('SUCCEEDED');
    expect(last?.isClosed).toBe(false);
  });

  it('at another gateway ends the session here', async () => {
    const device = await connectLamp();
    await entry();
    const { deviceId, ...rest } = { deviceId: lampId, dialect: 'XIAOZHI', transport: 'MQTT', reachability: 'ALWAYS' } as const;
    await registry.devices.connecting({ deviceId, ...rest, remoteAddress: undefined, connectedAt: Date.now() });
    device.answer = (text) => answerAsFirmware(text, { tools: ['self.lamp.turn_off'] });
    stage.gateway.callServer.refreshTools(lampId);
    await device.closed();
    expect((await event('device.disconnected')).data).toMatchObject({ reason: 'taken_over' });
  });
});

describe('what changed since the last time', () => {
  it('is told for tools and firmware', async () => {
    const before = await connectLamp({ version: '2.4.1', tools: ['a', 'b'] });
    const { epoch } = await entry();
    before.conn.destroy();
    await event('device.disconnected');
    await connectLamp({ version: '2.4.2', tools: ['b', 'c'] });
    await entry(epoch);
    const lastOf = (type: string) => stage.events.findLast((one) => one.type === type)?.data;
    await vi.waitFor(() => expect(lastOf('firmware.changed')).toEqual({ from: '2.4.1', to: '2.4.2' }));
    await vi.waitFor(() => expect(lastOf('tools.changed')).toMatchObject({ added: ['c'], removed: ['a'], changed: [] }));
  });

  it('is not told where the listing failed: the device keeps its last good tools', async () => {
    const before = await connectLamp({ tools: ['kept'] });
    const { epoch, toolSetHash } = await entry();
    before.conn.destroy();
    await event('device.disconnected');
    const device = await connectLamp();
    device.answer = (text) => {
      const request = JSON.parse(text) as { readonly payload?: { readonly id?: number; readonly method?: string } };
      if (request.payload?.method !== 'tools/list') return answerAsFirmware(text);
      return JSON.stringify({ session_id: '', type: 'mcp', payload: { jsonrpc: '2.0', id: request.payload.id, error: { message: 'no' } } });
    };
    expect((await entry(epoch)).toolSetHash).toBe(toolSetHash);
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', toolSetHash, toolsStale: true });
  });
});

describe('a conversation asked for over MQTT', () => {
  const hello = JSON.stringify({ type: 'hello', version: 3, transport: 'udp', features: { mcp: true } });

  it('is answered with the UDP port that is bound, then ended, and delays no call', async () => {
    const device = await connectLamp();
    await entry();
    device.publish(hello);
    const messagesOf = (type: string) =>
      device.messages.map((text) => JSON.parse(text) as Record<string, unknown>).filter((message) => message['type'] === type);
    await vi.waitFor(() => expect(messagesOf('hello')).toHaveLength(1));
    expect((await call()).outcome.kind).toBe('SUCCEEDED');
    const [answer] = messagesOf('hello');
    expect(answer?.['udp']).toMatchObject({ server: '127.0.0.1', port: stage.gateway.udpPort });
    await vi.waitFor(() => expect(messagesOf('goodbye')).toEqual([{ type: 'goodbye', session_id: answer?.['session_id'] }]));
    expect(messagesOf('alert')).toHaveLength(1);
    expect((await call()).outcome.kind).toBe('SUCCEEDED');
  });

  it('is answered before the greeting is', async () => {
    const device = await connectLamp({ silentOn: ['initialize'] });
    await device.connack();
    device.publish(hello);
    await vi.waitFor(() => expect(device.messages.some((text) => text.includes('"udp"'))).toBe(true));
  });
});

describe('while PostgreSQL does not answer', () => {
  it('devices stay connected and are written down when it is back', async () => {
    await stage.close();
    let isAway = true;
    const away = <Value>(write: () => Promise<Value>) => (isAway ? Promise.reject(new Error('away')) : write());
    const devices: SessionStores['devices'] = {
      connecting: (device) => away(() => registry.devices.connecting(device)),
      ready: (session) => away(() => registry.devices.ready(session)),
      closed: (session) => away(() => registry.devices.closed(session)),
    };
    stage = await setStage(lease.id, { registry: { devices, toolSets: registry.toolSets, events: registry.events } });
    const device = await connectLamp();
    await vi.waitFor(() => expect(stage.gateway.status().sessions).toMatchObject([{ state: 'ready' }]));
    expect((await call()).outcome.kind).toBe('SUCCEEDED');
    expect(await bus.directory.lookup(lampId)).toBeUndefined();
    isAway = false;
    const { epoch } = await entry();
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', epoch });
    expect(device.isClosed).toBe(false);
  });
});

describe('a gateway that stops', () => {
  it('settles its calls, closes its devices and leaves them offline', async () => {
    const device = await connectLamp({ silentOn: ['tools/call'] });
    const { epoch } = await entry();
    const pending = call();
    await stage.gateway.stop();
    expect((await pending).outcome.kind).toBe('UNKNOWN');
    await device.closed();
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'OFFLINE', epoch });
    const [session] = await registry.devices.sessions(lampId, 1);
    expect(session).toMatchObject({ epoch, closeReason: 'hub_stopping' });
  });
});
