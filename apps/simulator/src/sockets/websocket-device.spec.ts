/** A WebSocket device against a bare `ws` server. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { afterEach, describe, expect, it } from 'vitest';
import type { Loss } from './device-socket.js';
import { Fleet } from '../fleet.js';
import { readOptions } from '../command/options.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function startServer(isWelcome: boolean): Promise<{ server: WebSocketServer; port: number }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', verifyClient: () => isWelcome });
  await once(server, 'listening');
  closers.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

function startFleet(httpPort: number, onloss: (loss: Loss) => void = () => undefined): Fleet {
  const settings = [
    '--devices',
    '1',
    '--transport',
    'websocket',
    '--profile',
    'lamp',
    '--direct',
    '--secret',
    'x',
    '--reconnect-ms',
    '60000',
  ];
  const put = (loss?: Loss) => loss && onloss(loss);
  const fleet = new Fleet(readOptions(['node', 'simulate', ...settings, '--http-port', String(httpPort)], {}), {
    onconnected: () => undefined,
    ondisconnected: put,
    onfailed: put,
    onnotice: () => undefined,
  });
  closers.push(() => fleet.stop());
  fleet.start();
  return fleet;
}

async function text(socket: WebSocket): Promise<unknown> {
  const [data] = await once(socket, 'message');
  return JSON.parse(String(data));
}

describe('a WebSocket device', () => {
  it('shows the headers of the firmware, greets first, answers calls and leaves without a close frame', async () => {
    const { server, port } = await startServer(true);
    const fleet = startFleet(port);
    const [socket, request] = (await once(server, 'connection')) as [WebSocket, IncomingMessage];
    expect(request.url).toBe('/xiaozhi/v1/');
    expect(request.headers).toMatchObject({ 'device-id': '02:00:01:00:00:00', 'protocol-version': '1' });
    expect(request.headers['client-id']).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(request.headers.authorization).toMatch(/^Bearer [A-Za-z0-9_-]{43}\.\d+$/);
    expect(request.headers['sec-websocket-extensions']).toBeUndefined();
    expect(await text(socket)).toMatchObject({ type: 'hello', transport: 'websocket' });
    socket.send('{"type":"hello","transport":"websocket","session_id":"s"}');
    expect(await text(socket)).toMatchObject({ session_id: 's', type: 'listen', state: 'start' });
    socket.send(
      '{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"self.lamp.turn_on"}}}',
    );
    expect(await text(socket)).toMatchObject({ session_id: 's', type: 'mcp', payload: { id: 1 } });
    for (const device of fleet.select('*')) device.switchOff('graceful');
    const [code] = await once(socket, 'close');
    expect(code).toBe(1006);
  });

  it('says why it was refused', async () => {
    const { port } = await startServer(false);
    const loss = await new Promise<Loss>((resolve) => startFleet(port, resolve));
    expect(loss).toEqual({ kind: 'refused', detail: 'HTTP 401' });
  });

  it('reports a hub that is not there', async () => {
    const { server, port } = await startServer(true);
    server.close();
    await once(server, 'close');
    const loss = await new Promise<Loss>((resolve) => startFleet(port, resolve));
    expect(loss).toMatchObject({ kind: 'unreachable', detail: expect.stringContaining('ECONNREFUSED') });
  });
});
