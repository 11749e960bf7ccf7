import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { DeviceId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { granted } from '../auth/device-auth.js';
import type { DeviceAuth } from '../auth/device-auth.js';
import { ingressOptions, realClock } from '../ingress.suite.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { MqttDevice } from '../mqtt/mqtt-device.suite.js';
import { MqttIngress } from '../mqtt/mqtt-ingress.js';
import { directAddress, peerOf } from '../sessions/session-host.js';
import { McpuWebSocketIngress } from './mcpu-websocket-ingress.js';

const clientId = 'mcpu@@@greenhouse-7@@@3b0c5b1e';
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Admits one board with one token. */
const auth: DeviceAuth = {
  checkMqtt: () => granted,
  checkWebSocket: () => granted,
  checkToken: ({ deviceId, token }) =>
    deviceId === 'greenhouse-7' && token === 'right'
      ? { kind: 'granted', deviceId }
      : { kind: 'refused', reason: 'credentials_wrong', message: 'wrong' },
};

function stage(limits: Partial<GatewayLimits> = {}) {
  const defaults = ingressOptions();
  const options = { ...defaults, auth, limits: { ...defaults.limits, closingTimeoutMs: 50, ...limits } };
  return {
    options,
    host: defaults.host,
    count: (name: string) => options.counters.list().find((one) => one.name === name)?.count ?? 0,
  };
}

async function openMqtt(
  limits: Partial<GatewayLimits> = {},
  { clock = realClock, isFirstGone = false }: { clock?: Clock; isFirstGone?: boolean } = {},
) {
  const { options, host, count } = stage(limits);
  const sockets: Socket[] = [];
  const checkMqtt = () => {
    if (isFirstGone && sockets.length === 1) sockets[0]?.destroy();
    return granted;
  };
  const ingress = new MqttIngress({ ...options, clock, auth: { checkMqtt } });
  await ingress.start();
  const server = createServer((socket) => {
    sockets.push(socket);
    ingress.accept(socket, peerOf(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    await ingress.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  const connect = async () => {
    const device = await MqttDevice.dial((server.address() as AddressInfo).port);
    device.connect({ clientId });
    return device;
  };
  const dial = async () => {
    const device = await connect();
    await device.connack();
    return device;
  };
  return { connect, dial, host, count };
}

/** One message with so many lines that its device exceeds `scarce`. */
const flood = 'x\n'.repeat(100);
const scarce = { messagesPerSecondMax: 100, messagesBurst: 50 };
/** A line that a bridge to a serial port sends as it reads it. */
const soil = '{"id":1,"result":"湿度"}';
const splitCharacter = [Buffer.from(soil).subarray(0, 19), Buffer.from(soil).subarray(19)];
const slowed = (transport: string) => [
  { deviceId: 'greenhouse-7', type: 'device.throttled', transport, action: 'slowed' },
];

describe('a microcontroller over MQTT', () => {
  const subscribe = (device: MqttDevice, ...topics: string[]) =>
    device.write({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: topics.map((topic) => ({ topic, qos: 0 as const })),
    });

  it('connects with its subscription, with the identity of its client id', async () => {
    const { dial, host } = await openMqtt();
    const device = await dial();
    expect(host.connections).toEqual([]);
    subscribe(device, 'mcpu/greenhouse-7/request');
    const { transport, ...connection } = await host.connection();
    expect(connection).toMatchObject({ deviceId: 'greenhouse-7', kind: 'MQTT', dialect: 'MCPU' });
    const heard: string[] = [];
    transport.onmessage = (text) => heard.push(text);
    transport.start();
    transport.send('{"id":1}');
    expect(await device.packet('publish')).toMatchObject({ topic: 'mcpu/greenhouse-7/request', qos: 0, retain: false });
    expect(device.messages).toEqual(['{"id":1}\n']);
    device.publish('{"id":2}', 'mcpu/greenhouse-7/response');
    await vi.waitFor(() => expect(heard).toEqual(['{"id":2}']));
    subscribe(device, 'mcpu/greenhouse-7/request');
    device.publish('{"id":3}', 'mcpu/greenhouse-7/response');
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    expect(host.connections).toHaveLength(1);
  });

  it.each([0, 1] as const)('may split a character between two messages of QoS %i', async (qos) => {
    const { dial, host } = await openMqtt();
    const device = await dial();
    subscribe(device, 'mcpu/greenhouse-7/request');
    const { transport } = await host.connection();
    const heard: string[] = [];
    transport.onmessage = (text) => heard.push(text);
    transport.start();
    const topic = 'mcpu/greenhouse-7/response';
    splitCharacter.forEach((payload, index) =>
      device.write({ cmd: 'publish', topic, payload, qos, dup: false, retain: false, messageId: 7 + index }),
    );
    await vi.waitFor(() => expect(heard).toEqual([soil]));
  });

  it('may publish and subscribe on its own topics only', async () => {
    const { dial, host, count } = await openMqtt();
    const device = await dial();
    subscribe(
      device,
      'mcpu/greenhouse-8/request',
      'mcpu/+/request',
      'mcpu/#',
      'mcpu/greenhouse-7/response',
      'mcpu/greenhouse-7/request',
    );
    expect(await device.packet('suback')).toMatchObject({ granted: [128, 128, 128, 128, 0] });
    const { transport } = await host.connection();
    const heard: string[] = [];
    transport.onmessage = (text) => heard.push(text);
    transport.start();
    const topics = [
      'mcpu/greenhouse-8/response',
      'mcpu/greenhouse-7/request',
      'device-server',
      'devices/p2p/greenhouse-7',
    ];
    for (const topic of topics) device.publish('{"id":1}', topic);
    device.publish('{"id":2}', 'mcpu/greenhouse-7/response');
    await vi.waitFor(() => expect(heard).toEqual(['{"id":2}']));
    expect(count('anomaly_topic_forbidden')).toBe(topics.length);
  });

  it('is read more slowly after a message of many lines', async () => {
    const { dial, host } = await openMqtt(scarce);
    const device = await dial();
    subscribe(device, 'mcpu/greenhouse-7/request');
    (await host.connection()).transport.start();
    device.publish(flood, 'mcpu/greenhouse-7/response');
    await vi.waitFor(() => expect(host.reports).toMatchObject(slowed('MQTT')));
  });

  it('that never subscribes is disconnected with the reason', async () => {
    const { dial, host, count } = await openMqtt({ introductionTimeoutMs: 500 });
    const device = await dial();
    subscribe(device, 'mcpu/greenhouse-8/request');
    const { transport } = await host.connection();
    transport.start();
    await device.closed();
    expect(count('refusal_subscription_missing')).toBe(1);
  });

  it('that is gone before CONNACK ends no older session, and is not expected to subscribe', async () => {
    const clock = new ManualClock(Date.now());
    const { connect, dial, host } = await openMqtt({}, { clock, isFirstGone: true });
    await (await connect()).closed();
    expect(host.superseded).toEqual([]);
    const device = await dial();
    subscribe(device, 'mcpu/greenhouse-7/request');
    await host.connection();
    // The keep-alive of the second connection.
    expect(clock.timers).toBe(1);
  });
});

async function openWebSocket(limits: Partial<GatewayLimits> = {}) {
  const { options, host, count } = stage(limits);
  const ingress = new McpuWebSocketIngress({ ...options, addressOf: directAddress });
  ingress.start();
  const server = createHttpServer().on('upgrade', ingress.upgrade).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    ingress.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  const dial = (deviceId: string, token?: string, protocols: string[] = []) => {
    const headers = { 'Device-Id': deviceId, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcpu/v1/`, protocols, {
      headers,
    });
    return socket.on('error', () => undefined);
  };
  return { dial, host, count, lobby: options.lobby };
}

describe('a microcontroller over WebSocket', () => {
  it('connects at once, with the identity of its token', async () => {
    const { dial, host, lobby } = await openWebSocket();
    const socket = dial('greenhouse-7', 'right', ['mcpu.v1']);
    const received: string[] = [];
    socket.on('message', (data) => received.push((data as Buffer).toString()));
    const { transport, ...connection } = await host.connection();
    expect(connection).toMatchObject({ deviceId: 'greenhouse-7' as DeviceId, kind: 'WEBSOCKET', dialect: 'MCPU' });
    expect(connection.audio).toBeUndefined();
    const heard: string[] = [];
    transport.onmessage = (text) => heard.push(text);
    transport.start();
    transport.send('{"id":1}');
    await vi.waitFor(() => expect(received).toEqual(['{"id":1}\n']));
    expect(socket.protocol).toBe('mcpu.v1');
    socket.send('boot\r\n{"id"');
    socket.send(':1}');
    await vi.waitFor(() => expect(heard).toEqual(['boot', '{"id":1}']));
    expect(lobby.size).toBe(0);
  });

  it('may split a character between two frames', async () => {
    const { dial, host } = await openWebSocket();
    const socket = dial('greenhouse-7', 'right');
    const { transport } = await host.connection();
    const heard: string[] = [];
    transport.onmessage = (text) => heard.push(text);
    transport.start();
    for (const bytes of splitCharacter) socket.send(bytes, { binary: false });
    await vi.waitFor(() => expect(heard).toEqual([soil]));
  });

  it('is read more slowly after a message of many lines', async () => {
    const { dial, host } = await openWebSocket(scarce);
    const socket = dial('greenhouse-7', 'right');
    await once(socket, 'open');
    (await host.connection()).transport.start();
    socket.send(flood);
    await vi.waitFor(() => expect(host.reports).toMatchObject(slowed('WEBSOCKET')));
  });

  it.each([
    ['without a token', 'greenhouse-7', undefined, 401, 'refusal_credentials_wrong'],
    ['with a wrong token', 'greenhouse-7', 'wrong', 401, 'refusal_credentials_wrong'],
    ['with the token of another board', 'greenhouse-8', 'right', 401, 'refusal_credentials_wrong'],
    ['with a MAC', '02:5e:7a:10:c4:9f', 'right', 400, 'refusal_handshake_invalid'],
  ])('%s is rejected and counted', async (_what, deviceId, token, status, counted) => {
    const { dial, host, count } = await openWebSocket();
    const [, response] = (await once(dial(deviceId, token), 'unexpected-response')) as [unknown, IncomingMessage];
    expect([response.statusCode, count(counted), host.connections]).toEqual([status, 1, []]);
    response.destroy();
  });
});
