import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeTransport } from '@flotilla/mcp/transport.suite';
import { afterEach, describe, expect, it } from 'vitest';
import { createWebSocketStream, WebSocket } from 'ws';
import { ingressOptions } from '../ingress.suite.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { MqttDevice } from './mqtt-device.suite.js';
import { MqttIngress } from './mqtt-ingress.js';
import { MqttUpgrade } from './mqtt-upgrade.js';
import { directAddress } from '../sessions/session-host.js';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function openIngress(limits: Partial<GatewayLimits> = {}) {
  const defaults = ingressOptions();
  const options = { ...defaults, limits: { ...defaults.limits, ...limits } };
  const ingress = new MqttIngress(options);
  await ingress.start();
  const upgrade = new MqttUpgrade({
    ...options,
    addressOf: directAddress,
    accept: (stream, peer) => ingress.accept(stream, peer),
  });
  const server = createServer().on('upgrade', upgrade.upgrade);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    await ingress.stop();
    upgrade.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  const open = (subprotocols: string[]) =>
    new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/mqtt`, subprotocols);
  return { open, host: options.host, counters: options.counters };
}

async function dial(ingress: Awaited<ReturnType<typeof openIngress>>, subprotocol = 'mqtt') {
  const socket = ingress.open([subprotocol]);
  await once(socket, 'open');
  return { socket, device: new MqttDevice(createWebSocketStream(socket)) };
}

describeTransport('the MQTT transport inside a WebSocket', async () => {
  const ingress = await openIngress();
  const { socket, device } = await dial(ingress);
  device.connect();
  const { transport } = await ingress.host.connection();
  const far = {
    send: (text: string) => device.publish(text),
    close: () => socket.terminate(),
    get received() {
      return device.messages;
    },
  };
  return { near: transport, far };
});

describe('MqttUpgrade', () => {
  it.each(['mqtt', 'mqttv3.1'])('speaks the subprotocol %s', async (name) => {
    const ingress = await openIngress();
    const { socket, device } = await dial(ingress, name);
    expect(socket.protocol).toBe(name);
    device.connect();
    expect(await device.connack()).toBe(0);
    expect((await ingress.host.connection()).deviceId).toBe('02:5e:7a:10:c4:9f');
  });

  it('refuses a handshake without a subprotocol of MQTT', async () => {
    const ingress = await openIngress();
    const socket = ingress.open(['graphql-transport-ws']);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).toBe(400);
    response.resume();
  });

  it('guards the stream like any other', async () => {
    const ingress = await openIngress();
    const { socket, device } = await dial(ingress);
    device.writeBytes(Buffer.of(0x10, 0xff, 0xff, 0xff, 0x7f));
    await once(socket, 'close');
    expect(ingress.counters.list()).toContainEqual({ name: 'guard_cut_packet_too_large', count: 1 });
  });

  it.each([
    ['pings', (socket: WebSocket) => socket.ping()],
    ['empty messages', (socket: WebSocket) => socket.send('')],
  ])('cuts a client that sends nothing but %s of the WebSocket', async (_what, send) => {
    const ingress = await openIngress({ messagesPerSecondMax: 10, messagesBurst: 50 });
    const { socket, device } = await dial(ingress);
    device.connect();
    expect(await device.connack()).toBe(0);
    const closed = once(socket, 'close');
    for (let n = 0; n < 200; n += 1) send(socket);
    await closed;
    expect(ingress.counters.list()).toContainEqual({ name: 'traffic_cut', count: 1 });
  });

  it('cuts a client that sends one message in very many empty parts', async () => {
    const { socket } = await dial(await openIngress());
    const closed = once(socket, 'close');
    for (let n = 0; n < 1_000; n += 1) socket.send('', { fin: false });
    await closed;
  });
});
