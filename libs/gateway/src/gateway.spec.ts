import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuthVerdict } from './auth/device-auth.js';
import { silentLogger } from './ingress.suite.js';
import { lampId } from './gateway-stage.suite.js';
import type { GatewayStage } from './gateway-stage.suite.js';
import type { SessionStores } from './sessions/record-context.js';
import { openSpecHub } from './spec-hub.suite.js';

const hub = openSpecHub();
let stage: GatewayStage;

beforeEach(async () => {
  stage = await hub.openStage();
});

afterEach(() => stage.close());

describe('a device that connects', () => {
  it('is greeted, listed, recorded and announced', async () => {
    await stage.connectLamp();
    const { epoch, toolSetHash, gatewayId } = await stage.entry();
    expect(gatewayId).toBe(hub.lease.id);
    const row = await hub.registry.devices.find(lampId);
    expect(row).toMatchObject({
      presence: 'ONLINE',
      model: 'bread-compact-wifi',
      firmwareVersion: '2.4.2',
      transport: 'MQTT',
      epoch,
      toolSetHash,
    });
    expect(row?.reachability).toBe('ALWAYS');
    const toolSet = toolSetHash && (await hub.registry.toolSets.get(toolSetHash));
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
    stage = await hub.openStage({
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
    expect(await hub.registry.devices.find(lampId)).toMatchObject({ presence: 'OFFLINE' });
    expect(await hub.bus.directory.lookup(lampId)).toBeUndefined();
    expect((await stage.call()).outcome).toMatchObject({ kind: 'NOT_SENT', error: { code: 'DEVICE_OFFLINE' } });
  });

  it('can connect over WebSocket', async () => {
    const socket = await stage.connectTalkingLamp();
    await stage.entry();
    expect(await hub.registry.devices.find(lampId)).toMatchObject({
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
      known,
      mayCallUserOnly: false,
      checksAddress: true,
      serversOf: () => Promise.resolve([]),
      calls: { callTool: () => Promise.reject(new Error('unexpected call')) },
      report: () => Promise.resolve(),
    };
    const other = await hub.openStage({ udp: { host: '127.0.0.1', port: 0, bufferBytes: 0x7fff_ffff }, voice, logger });
    await other.close();
    expect(warnings).toEqual(expected.map((pattern) => expect.stringMatching(pattern) as string));
  });
});

describe('a gateway with room for one device', () => {
  it('keeps one of several whose credentials are accepted at the same moment', async () => {
    await stage.close();
    const grant: (() => void)[] = [];
    const ask = () => new Promise<AuthVerdict>((resolve) => grant.push(() => resolve({ kind: 'granted' })));
    const auth = { checkMqtt: ask, checkToken: ask, checkWebSocket: ask };
    stage = await hub.openStage({ auth, limits: { sessionsMax: 1 } });
    const ids = [1, 2, 3].map((number) => `GID_lab@@@02_5e_7a_10_c4_0${number}@@@one`);
    const devices = await Promise.all(ids.map((clientId) => stage.connectLamp({ clientId })));
    await vi.waitFor(() => expect(grant).toHaveLength(3));
    for (const each of grant) each();
    await vi.waitFor(() => expect(devices.filter(({ isClosed }) => isClosed)).toHaveLength(2));
    const { counts, sessions } = stage.gateway.status();
    expect(sessions).toMatchObject([{ count: 1 }]);
    expect(counts).toContainEqual({ name: 'refusal_hub_full', count: 2 });
  });
});

describe('while PostgreSQL does not answer', () => {
  it('devices stay connected and are recorded when it is back', async () => {
    await stage.close();
    let isAway = true;
    const away = <Value>(write: () => Promise<Value>) => (isAway ? Promise.reject(new Error('away')) : write());
    const devices: SessionStores['devices'] = {
      connect: (device) => away(() => hub.registry.devices.connect(device)),
      ready: (session) => away(() => hub.registry.devices.ready(session)),
      closeSession: (session) => away(() => hub.registry.devices.closeSession(session)),
      report: (state) => away(() => hub.registry.devices.report(state)),
    };
    stage = await hub.openStage({ registry: { ...hub.registry, devices } });
    const device = await stage.connectLamp();
    await vi.waitFor(() => expect(stage.gateway.status().sessions).toMatchObject([{ state: 'ready' }]));
    expect((await stage.call()).outcome.kind).toBe('SUCCEEDED');
    expect(await hub.bus.directory.lookup(lampId)).toBeUndefined();
    isAway = false;
    const { epoch } = await stage.entry();
    expect(await hub.registry.devices.find(lampId)).toMatchObject({ presence: 'ONLINE', epoch });
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
    expect(await hub.registry.devices.find(lampId)).toMatchObject({ presence: 'OFFLINE', epoch });
    expect(await hub.registry.devices.sessions([lampId], 1)).toMatchObject([[{ epoch, closeReason: 'hub_stopping' }]]);
  });
});
