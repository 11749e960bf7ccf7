import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeTransport } from '@flotilla/mcp/transport.suite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ingressOptions, listen } from '../ingress.suite.js';
import { FleetSecretAuth } from '../auth/fleet-secret-auth.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { XiaozhiWebSocketIngress } from './xiaozhi-websocket-ingress.js';
import type { XiaozhiWebSocketIngressOptions } from './xiaozhi-websocket-ingress.js';
import { directAddress } from '../sessions/session-host.js';

const headers = {
  'Device-Id': '02:5e:7a:10:c4:9f',
  'Client-Id': '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21',
  'Protocol-Version': '1',
};
const hello = JSON.stringify({ type: 'hello', version: 1, features: { mcp: true }, transport: 'websocket' });

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface DialOptions {
  readonly headers?: Record<string, string>;
  readonly query?: string;
  readonly autoPong?: boolean;
}

async function openIngress({
  limits,
  ...change
}: Partial<Omit<XiaozhiWebSocketIngressOptions, 'limits'>> & { limits?: Partial<GatewayLimits> } = {}) {
  const defaults = ingressOptions();
  const options = {
    ...defaults,
    addressOf: directAddress,
    ...change,
    limits: { ...defaults.limits, closingTimeoutMs: 50, ...limits },
  };
  const ingress = new XiaozhiWebSocketIngress(options);
  ingress.start();
  const server = createServer().on('upgrade', ingress.upgrade);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    ingress.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  const dial = (dialled: DialOptions = {}) => {
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/xiaozhi/v1/${dialled.query ?? ''}`;
    const socket = new WebSocket(url, {
      headers: dialled.headers ?? headers,
      perMessageDeflate: false,
      autoPong: dialled.autoPong ?? true,
    });
    const received: string[] = [];
    socket.on('message', (data) => received.push((data as Buffer).toString()));
    socket.on('error', () => undefined);
    return { socket, received };
  };
  return { dial, host: defaults.host, lobby: options.lobby };
}

async function enter(ingress: Awaited<ReturnType<typeof openIngress>>, dialled?: DialOptions) {
  const device = ingress.dial(dialled);
  await once(device.socket, 'open');
  device.socket.send(hello);
  const connection = await ingress.host.connection(ingress.host.connections.length + 1);
  return { ...device, connection };
}

async function refusal(socket: WebSocket): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, body: JSON.parse(text) };
}

describeTransport('the WebSocket transport', async () => {
  const { socket, received, connection } = await enter(await openIngress());
  return {
    near: connection.transport,
    far: { send: (text) => socket.send(text), close: () => socket.terminate(), received },
  };
});

describe('XiaozhiWebSocketIngress', () => {
  it('hands over the hello, and leaves the answer to the session', async () => {
    const { received, connection } = await enter(await openIngress());
    expect(connection).toMatchObject({ hello: JSON.parse(hello) as object, clientId: headers['Client-Id'] });
    connection.transport.send('{"type":"mcp"}');
    await vi.waitFor(() => expect(received).toEqual(['{"type":"mcp"}']));
  });

  it('knows the device by its MAC, however that is written', async () => {
    const { connection } = await enter(await openIngress(), {
      headers: { ...headers, 'Device-Id': '02-5E-7A-10-C4-9F' },
    });
    expect(connection).toMatchObject({ deviceId: '02:5e:7a:10:c4:9f', kind: 'WEBSOCKET', remoteAddress: '127.0.0.1' });
  });

  it('takes the ids from the query string where there are no headers', async () => {
    const query = '?device-id=02:5e:7a:10:c4:9f&client-id=lamp';
    const { connection } = await enter(await openIngress(), { headers: {}, query });
    expect(connection.deviceId).toBe('02:5e:7a:10:c4:9f');
  });

  it('carries audio beside messages, and survives text that is not a message', async () => {
    const { socket, connection } = await enter(await openIngress());
    const frames: Uint8Array[] = [];
    if (connection.audio) connection.audio.onframe = (frame) => frames.push(frame);
    const heard = listen(connection);
    socket.send(Buffer.from([0, 1, 2]));
    socket.send('no json');
    socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    socket.send('{"type":"mcp"}');
    await vi.waitFor(() => expect(heard.messages.at(-1)).toBe('{"type":"mcp"}'));
    expect(heard.messages).toHaveLength(3);
    expect(frames).toEqual([Buffer.from([0, 1, 2])]);
    const back = once(socket, 'message');
    connection.audio?.sendFrame(Buffer.from([3, 4]));
    expect(await back).toEqual([Buffer.from([3, 4]), true]);
    expect(heard.closes).toEqual([]);
  });

  it('waits for the hello through anything else, but not for ever', async () => {
    const ingress = await openIngress({ limits: { introductionTimeoutMs: 200 } });
    const { socket } = ingress.dial();
    await once(socket, 'open');
    socket.send('no json');
    socket.send('{"type":"hello"}');
    socket.send(Buffer.from([1]));
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1002);
    expect(ingress.host.connections).toEqual([]);
    await vi.waitFor(() => expect(ingress.lobby.size).toBe(0));
  });

  it('cuts the socket of a device that does not finish the closing handshake', async () => {
    const { socket, connection } = await enter(await openIngress());
    const heard = listen(connection);
    socket.pause();
    connection.transport.close('hub_closed');
    await vi.waitFor(() => expect(heard.closes).toEqual(['hub_closed']));
    socket.resume();
    const [code] = (await once(socket, 'close')) as [number];
    expect([1000, 1006]).toContain(code);
  });

  it('cuts a peer that gives no sign of life', async () => {
    const { connection } = await enter(await openIngress({ limits: { pingIntervalMs: 60 } }), { autoPong: false });
    const heard = listen(connection);
    await vi.waitFor(() => expect(heard.closes).toEqual(['connection_lost']));
  });

  it('keeps a silent peer that answers pings', async () => {
    const { socket, connection } = await enter(await openIngress({ limits: { pingIntervalMs: 400 } }));
    const heard = listen(connection);
    for (let ping = 0; ping < 3; ping += 1) await once(socket, 'ping');
    expect(heard.closes).toEqual([]);
  });

  it('ends a connection whose message is larger than 64 KiB, as a broken rule', async () => {
    const { socket, connection } = await enter(await openIngress());
    const heard = listen(connection);
    socket.send('x'.repeat(65_537));
    await vi.waitFor(() => expect(heard.closes).toEqual(['protocol_error']));
  });
});

describe('XiaozhiWebSocketIngress refuses a handshake', () => {
  const seconds = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', 'ws-shared-secret')
    .update(`${headers['Client-Id']}|${headers['Device-Id']}|${seconds}`)
    .digest('base64url');
  const token = `${signature}.${seconds}`;
  const auth = new FleetSecretAuth({ secret: 'ws-shared-secret', clock: { now: () => Date.now() } });

  it('but not with the right token', async () => {
    await enter(await openIngress({ auth }), { headers: { ...headers, Authorization: `Bearer ${token}` } });
    await enter(await openIngress({ auth }), { headers: { ...headers, Authorization: token } });
  });

  it.each([
    ['without a token', headers, 401, 'UNAUTHORIZED'],
    ['with a wrong token', { ...headers, Authorization: `Bearer ${token}0` }, 401, 'UNAUTHORIZED'],
    ['without a Device-Id', { 'Client-Id': 'x' }, 400, 'HANDSHAKE_INVALID'],
    ['with a Device-Id that is not a MAC', { ...headers, 'Device-Id': 'lamp' }, 400, 'HANDSHAKE_INVALID'],
    ['without a Client-Id', { 'Device-Id': headers['Device-Id'] }, 400, 'HANDSHAKE_INVALID'],
    ['with an unknown Protocol-Version', { ...headers, 'Protocol-Version': '9' }, 400, 'HANDSHAKE_INVALID'],
  ])('%s', async (_case, given, status, code) => {
    const ingress = await openIngress({ auth });
    const { socket } = ingress.dial({ headers: given });
    expect(await refusal(socket)).toMatchObject({ status, body: { code, message: expect.any(String) as string } });
    await vi.waitFor(() => expect(ingress.lobby.size).toBe(0));
  });

  it('when no further session fits', async () => {
    const ingress = await openIngress();
    ingress.host.isFull = true;
    expect(await refusal(ingress.dial().socket)).toMatchObject({ status: 503, body: { code: 'OVERLOADED' } });
  });
});
