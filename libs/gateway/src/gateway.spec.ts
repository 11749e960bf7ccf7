import { openLocalBus } from '@flotilla/bus';
import type { Bus } from '@flotilla/bus';
import { openRegistry } from '@flotilla/registry';
import type { ProcessLease, Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from './door.suite.js';
import { answerAsFirmware } from './firmware.suite.js';
import { GatewayStage, lampId } from './gateway-stage.suite.js';
import type { GatewayOptions } from './gateway.js';
import type { MqttDevice } from './mqtt/mqtt-device.suite.js';
import type { SessionStores } from './sessions/session-record.js';

let database: TestDatabase;
let registry: Registry;
let lease: ProcessLease;
let bus: Bus;
let stage: GatewayStage;

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
  stage = await setStage();
});

afterEach(async () => {
  await stage.close();
  await lease.release();
  await registry.close();
});

function setStage(change: Partial<GatewayOptions> = {}): Promise<GatewayStage> {
  return GatewayStage.set({ gatewayId: lease.id, registry, bus, ...change });
}

describe('a device that connects', () => {
  it('is greeted, listed, recorded and announced', async () => {
    await stage.connectLamp();
    const { epoch, toolSetHash, gatewayId } = await stage.entry();
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
    expect(toolSet && toolSet.tools.map(({ name, schemaKnown }) => [name, schemaKnown])).toEqual([
      ['self.lamp.turn_on', true],
    ]);
    expect((await stage.event('device.connected')).data).toEqual({
      transport: 'MQTT',
      remoteAddress: '127.0.0.1',
      epoch,
    });
    expect(stage.presences).toEqual(['ONLINE']);
    expect(stage.gateway.status().sessions).toEqual([{ state: 'ready', transport: 'MQTT', count: 1 }]);
  });

  it('receives the vision address for its camera', async () => {
    await stage.close();
    stage = await setStage({
      visionFor: ({ deviceId }) => ({ url: 'http://hub/vision', token: `only-for-${deviceId}` }),
    });
    const device = await stage.connectLamp();
    await stage.entry();
    const greeting = JSON.parse(device.messages[0] ?? '') as unknown;
    const capabilities = { vision: { url: 'http://hub/vision', token: `only-for-${lampId}` } };
    expect(greeting).toMatchObject({ payload: { method: 'initialize', params: { capabilities } } });
  });

  it('runs calls', async () => {
    await stage.connectLamp();
    const { epoch } = await stage.entry();
    const settled = await stage.call({ epoch });
    expect(settled.outcome).toMatchObject({
      kind: 'SUCCEEDED',
      result: { content: [{ type: 'text', text: 'did self.lamp.turn_on' }] },
    });
  });

  it('is offline after its connection ends, and an event has the reason', async () => {
    const device = await stage.connectLamp();
    await stage.entry();
    device.write({ cmd: 'disconnect' });
    expect((await stage.event('device.disconnected')).data).toMatchObject({ reason: 'device_closed' });
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'OFFLINE' });
    expect(await bus.directory.lookup(lampId)).toBeUndefined();
    expect((await stage.call()).outcome).toMatchObject({ kind: 'NOT_SENT', error: { code: 'DEVICE_OFFLINE' } });
  });

  it('can connect over WebSocket', async () => {
    const socket = await stage.connectTalkingLamp();
    await stage.entry();
    expect(await registry.devices.find(lampId)).toMatchObject({
      transport: 'WEBSOCKET',
      reachability: 'IN_CONVERSATION',
    });
    expect((await stage.call()).outcome.kind).toBe('SUCCEEDED');
    socket.terminate();
    expect((await stage.event('device.disconnected')).data).toMatchObject({ reason: 'connection_lost' });
  });

  it('causes events with its notifications, large ones without params', async () => {
    const device = await stage.connectLamp();
    await stage.entry();
    const notify = (params: unknown) =>
      device.publish(
        JSON.stringify({
          session_id: '',
          type: 'mcp',
          payload: { jsonrpc: '2.0', method: 'notifications/state', params },
        }),
      );
    notify({ on: true });
    expect((await stage.event('device.notification')).data).toEqual({
      method: 'notifications/state',
      params: { on: true },
    });
    notify({ text: 'x'.repeat(9000) });
    expect((await stage.event('device.notification', 2)).data).toEqual({
      method: 'notifications/state',
      truncated: true,
    });
  });
});

describe('changes since the last session', () => {
  it('are events for tools and firmware', async () => {
    const before = await stage.connectLamp({ version: '2.4.1', tools: ['a', 'b'] });
    const { epoch } = await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    await stage.connectLamp({ version: '2.4.2', tools: ['b', 'c'], description: 'says more' });
    await stage.entry(epoch);
    const lastOf = (type: string) => stage.events.findLast((one) => one.type === type)?.data;
    await vi.waitFor(() => expect(lastOf('firmware.changed')).toEqual({ from: '2.4.1', to: '2.4.2' }));
    await vi.waitFor(() =>
      expect(lastOf('tools.changed')).toMatchObject({ added: ['c'], removed: ['a'], changed: ['b'] }),
    );
  });

  it('are events for a session that ended while it was written', async () => {
    const before = await stage.connectLamp({ version: '2.4.1', tools: ['a'] });
    await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    await stage.close();
    const { devices, toolSets, events } = registry;
    const connected: MqttDevice[] = [];
    const connecting: SessionStores['devices']['connecting'] = async (device) => {
      const answer = await devices.connecting(device);
      connected[0]?.conn.destroy();
      await vi.waitFor(() => expect(stage.gateway.status().sessions).toEqual([]));
      return answer;
    };
    const slow: SessionStores['devices'] = {
      connecting,
      ready: (one) => devices.ready(one),
      closed: (one) => devices.closed(one),
      report: (one) => devices.report(one),
    };
    stage = await setStage({
      registry: { devices: slow, toolSets, events, calls: registry.calls, dials: registry.dials },
    });
    connected.push(await stage.connectLamp({ version: '2.4.2', tools: ['b'] }));
    await stage.event('device.disconnected');
    expect(stage.events.map(({ type }) => type)).toEqual([
      'device.connected',
      'firmware.changed',
      'tools.changed',
      'device.disconnected',
    ]);
    expect(await bus.directory.lookup(lampId)).toBeUndefined();
    expect(stage.presences).toEqual(['OFFLINE']);
  });

  it('are not reported if the listing failed: the device keeps its last good tools', async () => {
    const before = await stage.connectLamp({ tools: ['kept'] });
    const { epoch, toolSetHash } = await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    const device = await stage.connectLamp();
    device.answer = (text) => {
      const request = JSON.parse(text) as { readonly payload?: { readonly id?: number; readonly method?: string } };
      if (request.payload?.method !== 'tools/list') return answerAsFirmware(text);
      return JSON.stringify({
        session_id: '',
        type: 'mcp',
        payload: { jsonrpc: '2.0', id: request.payload.id, error: { message: 'no' } },
      });
    };
    expect((await stage.entry(epoch)).toolSetHash).toBe(toolSetHash);
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', toolSetHash, toolsStale: true });
  });

  it('are marked stale if a later listing failed', async () => {
    const device = await stage.connectLamp();
    const { toolSetHash } = await stage.entry();
    const staleness = async () => (await registry.devices.find(lampId))?.toolsStale;
    expect(await staleness()).toBe(false);
    device.answer = (text) => {
      const request = JSON.parse(text) as { readonly payload: { readonly id: number } };
      return JSON.stringify({
        session_id: '',
        type: 'mcp',
        payload: { jsonrpc: '2.0', id: request.payload.id, error: { message: 'no' } },
      });
    };
    stage.gateway.callServer.refreshTools(lampId);
    await vi.waitFor(async () => expect(await staleness()).toBe(true));
    expect(await bus.directory.lookup(lampId)).toMatchObject({ toolSetHash });
  });
});

describe('the will of an MQTT device', () => {
  const will = { topic: 'lamps/gone', payload: Buffer.from('out'), qos: 0 as const, retain: false };

  it('is an event when the connection is lost', async () => {
    const device = await stage.connectLamp({ will });
    await stage.entry();
    device.conn.destroy();
    expect((await stage.event('device.will')).data).toMatchObject({ topic: 'lamps/gone', payload: 'out' });
  });

  it('causes no event after DISCONNECT', async () => {
    const device = await stage.connectLamp({ will });
    await stage.entry();
    device.write({ cmd: 'disconnect' });
    await stage.event('device.disconnected');
    expect(stage.events.map(({ type }) => type)).not.toContain('device.will');
  });
});

describe('a conversation over MQTT', () => {
  const hello = JSON.stringify({ type: 'hello', version: 3, transport: 'udp', features: { mcp: true } });

  it('is answered with the UDP port that is bound, then ended, and delays no call', async () => {
    const device = await stage.connectLamp();
    await stage.entry();
    device.publish(hello);
    const messagesOf = (type: string) =>
      device.messages
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .filter((message) => message['type'] === type);
    await vi.waitFor(() => expect(messagesOf('hello')).toHaveLength(1));
    expect((await stage.call()).outcome.kind).toBe('SUCCEEDED');
    const [answer] = messagesOf('hello');
    expect(answer?.['udp']).toMatchObject({ server: '127.0.0.1', port: stage.gateway.udpPort });
    await vi.waitFor(() =>
      expect(messagesOf('goodbye')).toEqual([{ type: 'goodbye', session_id: answer?.['session_id'] }]),
    );
    expect(messagesOf('alert')).toHaveLength(1);
    expect((await stage.call()).outcome.kind).toBe('SUCCEEDED');
  });

  it('is answered before the greeting', async () => {
    const device = await stage.connectLamp({ silentOn: ['initialize'] });
    await device.connack();
    device.publish(hello);
    await vi.waitFor(() => expect(device.messages.some((text) => text.includes('"udp"'))).toBe(true));
  });
});

describe('a receive buffer for audio that the system cuts', () => {
  it.each([
    ['causes a warning in a hub with voice', ['ws://voice.example/'], [/set net.core.rmem_max to 2147483647 or more/]],
    ['causes no warning without voice', [], []],
  ])('%s', async (_what, known, expected) => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_details: object, message: string) => void warnings.push(message) };
    const voice = {
      ...{ known, mayCallUserOnly: false, checksAddress: true },
      serversOf: () => Promise.resolve([]),
      calls: { call: () => Promise.reject(new Error('unexpected call')) },
      report: () => Promise.resolve(),
    };
    const other = await setStage({ udp: { host: '127.0.0.1', port: 0, bufferBytes: 0x7fff_ffff }, voice, logger });
    await other.close();
    expect(warnings).toEqual(expected.map((pattern) => expect.stringMatching(pattern) as string));
  });
});

describe('while PostgreSQL does not answer', () => {
  it('devices stay connected and are recorded when it is back', async () => {
    await stage.close();
    let isAway = true;
    const away = <Value>(write: () => Promise<Value>) => (isAway ? Promise.reject(new Error('away')) : write());
    const devices: SessionStores['devices'] = {
      connecting: (device) => away(() => registry.devices.connecting(device)),
      ready: (session) => away(() => registry.devices.ready(session)),
      closed: (session) => away(() => registry.devices.closed(session)),
      report: (state) => away(() => registry.devices.report(state)),
    };
    const { toolSets, events, calls, dials } = registry;
    stage = await setStage({ registry: { devices, toolSets, events, calls, dials } });
    const device = await stage.connectLamp();
    await vi.waitFor(() => expect(stage.gateway.status().sessions).toMatchObject([{ state: 'ready' }]));
    expect((await stage.call()).outcome.kind).toBe('SUCCEEDED');
    expect(await bus.directory.lookup(lampId)).toBeUndefined();
    isAway = false;
    const { epoch } = await stage.entry();
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', epoch });
    expect(device.isClosed).toBe(false);
  });
});

describe('a gateway that stops', () => {
  it('settles its calls, closes its devices and leaves them offline', async () => {
    const device = await stage.connectLamp({ silentOn: ['tools/call'] });
    const { epoch } = await stage.entry();
    const pending = stage.call();
    await stage.gateway.stop();
    expect((await pending).outcome.kind).toBe('UNKNOWN');
    await device.closed();
    expect(await registry.devices.find(lampId)).toMatchObject({ presence: 'OFFLINE', epoch });
    expect(await registry.devices.sessions([lampId], 1)).toMatchObject([[{ epoch, closeReason: 'hub_stopping' }]]);
  });
});
