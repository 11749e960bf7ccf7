/** What the ways in do about floods, flapping and failed attempts, each over real sockets. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { ManualClock } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { AuthVerdict, DeviceAuth } from '../auth/device-auth.js';
import { ingressOptions, listen, realClock } from '../ingress.suite.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { MqttDevice } from '../mqtt/mqtt-device.suite.js';
import { MqttIngress } from '../mqtt/mqtt-ingress.js';
import { directAddress, peerOf } from '../sessions/session-host.js';
import { XiaozhiWebSocketIngress } from '../websocket/xiaozhi-websocket-ingress.js';
import { DeviceFailures } from './device-failures.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const deviceId = '02:5e:7a:10:c4:9f';
const hello = JSON.stringify({ type: 'hello', version: 1, features: { mcp: true }, transport: 'websocket' });

async function openIngresses({
  limits,
  auth,
  clock = realClock,
}: { readonly limits?: Partial<GatewayLimits>; readonly auth?: DeviceAuth; readonly clock?: Clock } = {}) {
  const defaults = { ...ingressOptions(), clock };
  const attempts = new DeviceFailures(realClock, { burst: 3, perSecond: 0.001, addressesMax: 10 });
  const options = { ...defaults, attempts, ...(auth && { auth }), limits: { ...defaults.limits, ...limits } };
  const mqtt = new MqttIngress(options);
  const webSockets = new XiaozhiWebSocketIngress({ ...options, addressOf: directAddress });
  await mqtt.start();
  const mqttServer = createServer((socket) => mqtt.accept(socket, peerOf(socket))).listen(0, '127.0.0.1');
  const httpServer = createHttpServer().on('upgrade', webSockets.upgrade).listen(0, '127.0.0.1');
  await Promise.all([once(mqttServer, 'listening'), once(httpServer, 'listening')]);
  closers.push(() => {
    void mqtt.stop();
    webSockets.stop();
    mqttServer.close();
    httpServer.close();
  });
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  return {
    host: options.host,
    count: (name: string) => options.counters.list().find((one) => one.name === name)?.count ?? 0,
    dialMqtt: () => MqttDevice.dial(portOf(mqttServer)),
    dialWebSocket: (clientId = 'speaker') => {
      const headers = { 'Device-Id': deviceId, 'Client-Id': clientId, Authorization: 'Bearer x' };
      const socket = new WebSocket(`ws://127.0.0.1:${portOf(httpServer)}/xiaozhi/v1/`, { headers });
      socket.on('error', () => undefined);
      return socket;
    },
  };
}

type Ingresses = Awaited<ReturnType<typeof openIngresses>>;

/** An admitted device over each transport: how it sends, and whether its connection ended. */
const transports = {
  MQTT: async (ingresses: Ingresses) => {
    const device = await ingresses.dialMqtt();
    device.connect();
    await device.connack();
    return { say: (text: string) => device.publish(text), isClosed: () => device.isClosed };
  },
  WEBSOCKET: async (ingresses: Ingresses) => {
    const socket = ingresses.dialWebSocket();
    await once(socket, 'open');
    socket.send(hello);
    return { say: (text: string) => socket.send(text), isClosed: () => socket.readyState === WebSocket.CLOSED };
  },
};

async function refusalOf(socket: WebSocket): Promise<IncomingMessage> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  response.resume();
  return response;
}

describe.each(['MQTT', 'WEBSOCKET'] as const)('a device that floods over %s', (kind) => {
  it('is read more slowly, loses nothing, and is reported once', async () => {
    const clock = new ManualClock(Date.now());
    const sentAt = clock.now();
    const ingresses = await openIngresses({ limits: { bytesPerSecondMax: 1_000_000, bytesBurst: 300_000 }, clock });
    const { say, isClosed } = await transports[kind](ingresses);
    const heard = listen(await ingresses.host.connection());
    // Half a megabyte beyond the burst: half a second, less the last part that is read.
    for (let n = 0; n < 80; n += 1) say('x'.repeat(10_000));
    say('last');
    await vi.waitFor(() => expect(ingresses.count('traffic_slowed')).toBe(1));
    const hear = () => {
      clock.advance(10);
      expect(heard.messages.at(-1)).toBe('last');
    };
    await vi.waitFor(hear, { interval: 10 });
    expect(clock.now() - sentAt).toBeGreaterThan(400);
    expect(heard.messages).toHaveLength(81);
    expect(isClosed()).toBe(false);
    expect(ingresses.host.reports).toMatchObject([
      { deviceId, type: 'device.throttled', transport: kind, action: 'slowed' },
    ]);
    expect(ingresses.count('traffic_slowed')).toBe(1);
  });

  it('is cut when it does not stop', async () => {
    const ingresses = await openIngresses({
      limits: { messagesPerSecondMax: 10, messagesBurst: 50, trafficDebtMsMax: 1_000 },
    });
    const { say, isClosed } = await transports[kind](ingresses);
    const heard = listen(await ingresses.host.connection());
    for (let n = 0; n < 200 && !isClosed(); n += 1) say('x');
    await vi.waitFor(() => expect(heard.closes).toEqual(['traffic_exceeded']));
    expect(ingresses.host.reports.at(-1)).toMatchObject({ action: 'cut' });
    expect(ingresses.count('traffic_cut')).toBe(1);
  });
});

describe('a device that sends nothing but pings over MQTT', () => {
  it('is cut as well', async () => {
    const ingresses = await openIngresses({
      limits: { messagesPerSecondMax: 10, messagesBurst: 50, trafficDebtMsMax: 1_000 },
    });
    const device = await ingresses.dialMqtt();
    device.connect();
    await device.connack();
    for (let n = 0; n < 200; n += 1) device.write({ cmd: 'pingreq' });
    await device.closed();
    expect(ingresses.count('traffic_cut')).toBe(1);
  });
});

describe('a device that sends one message in very many empty parts over WebSocket', () => {
  it('is cut, because parts are not messages that can be counted', async () => {
    const ingresses = await openIngresses();
    const socket = ingresses.dialWebSocket();
    await once(socket, 'open');
    socket.send(hello);
    const heard = listen(await ingresses.host.connection());
    for (let n = 0; n < 1_000; n += 1) socket.send('', { fin: false });
    socket.send('x');
    await vi.waitFor(() => expect(heard.closes).toEqual(['protocol_error']));
    expect(heard.messages).toEqual([]);
  });
});

describe('a device that flaps', () => {
  it('is asked to come back later, without a failed attempt', async () => {
    const ingresses = await openIngresses();
    ingresses.host.retryAfterMs = 9_500;
    for (let n = 0; n < 5; n += 1) {
      const device = await ingresses.dialMqtt();
      device.connect();
      expect(await device.connack()).toBe(3);
      await device.closed();
    }
    const response = await refusalOf(ingresses.dialWebSocket());
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '10']);
    expect(ingresses.count('refusal_flapping')).toBe(6);
    expect(ingresses.host.connections).toEqual([]);
  });
});

describe('devices whose credentials are checked while the last place is taken', () => {
  it('are refused, because the limit would not hold for a fleet that connects at once', async () => {
    const decide: (() => void)[] = [];
    const ask = () => new Promise<AuthVerdict>((resolve) => decide.push(() => resolve({ kind: 'granted' })));
    const ingresses = await openIngresses({ auth: { checkMqtt: ask, checkToken: ask, checkWebSocket: ask } });
    const device = await ingresses.dialMqtt();
    device.connect();
    const refused = refusalOf(ingresses.dialWebSocket());
    await vi.waitFor(() => expect(decide).toHaveLength(2));
    ingresses.host.isFull = true;
    for (const grant of decide) grant();
    expect(await device.connack()).toBe(3);
    expect((await refused).statusCode).toBe(503);
    expect(ingresses.count('refusal_hub_full')).toBe(2);
    expect(ingresses.host.connections).toEqual([]);
  });
});

describe('failed attempts from one address', () => {
  const isRight = (clientId: string) => clientId.includes('right');
  const auth: DeviceAuth = {
    checkMqtt: ({ clientId }) =>
      isRight(clientId) ? { kind: 'granted' } : { kind: 'refused', reason: 'credentials_wrong', message: 'wrong' },
    checkToken: () => ({ kind: 'granted' }),
    checkWebSocket: ({ clientId }) =>
      isRight(clientId) ? { kind: 'granted' } : { kind: 'refused', reason: 'credentials_wrong', message: 'wrong' },
  };
  const connectAs = async (ingresses: Ingresses, clientId: string) => {
    const device = await ingresses.dialMqtt();
    device.connect({ clientId });
    const code = await device.connack();
    device.conn.destroy();
    return code;
  };
  const failTimes = async (ingresses: Ingresses, times: number) => {
    for (let n = 0; n < times; n += 1) expect(await connectAs(ingresses, `GID@@@02_00_00_00_00_0${n}@@@wrong`)).toBe(4);
  };
  const board = 'GID@@@02_00_00_00_00_aa@@@right';
  const other = 'GID@@@02_00_00_00_00_bb@@@right';

  it('shut out only devices that have not authenticated before', async () => {
    const ingresses = await openIngresses({ auth });
    expect(await connectAs(ingresses, board)).toBe(0);
    expect((await once(ingresses.dialWebSocket('right'), 'open')).length).toBe(0);
    await failTimes(ingresses, 3);
    await vi.waitFor(async () => expect(await connectAs(ingresses, other)).toBe(3));
    expect(await connectAs(ingresses, board)).toBe(0);
    expect((await refusalOf(ingresses.dialWebSocket('wrong'))).statusCode).toBe(429);
    expect((await once(ingresses.dialWebSocket('right'), 'open')).length).toBe(0);
    expect(ingresses.count('refusal_address_limited')).toBeGreaterThanOrEqual(2);
  });

  it('end connections from an address without any authenticated device', async () => {
    const ingresses = await openIngresses({ auth });
    await failTimes(ingresses, 3);
    await vi.waitFor(async () => {
      const device = await ingresses.dialMqtt();
      await device.closed();
      expect(device.packets).toEqual([]);
    });
  });

  const unreadable = [Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.of(0x10, 0xff, 0xff, 0xff, 0x7f), Buffer.of(0, 0)];
  const silent = unreadable.map(() => Buffer.alloc(0));

  it.each([
    ['nothing that can be read', unreadable, {}, 0],
    ['nothing', silent, { introductionTimeoutMs: 50 }, 3],
  ])('are connections as well that say %s', async (_what, saying, limits, missing) => {
    const ingresses = await openIngresses({ auth, limits });
    for (const bytes of saying) {
      const device = await ingresses.dialMqtt();
      device.writeBytes(bytes);
      await device.closed();
    }
    expect(ingresses.count('refusal_connect_missing')).toBe(missing);
    await vi.waitFor(async () => {
      const device = await ingresses.dialMqtt();
      await device.closed();
      expect(ingresses.count('refusal_address_limited')).toBeGreaterThan(0);
    });
  });
});
