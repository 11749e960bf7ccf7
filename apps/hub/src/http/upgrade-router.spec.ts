import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DeviceRoutes } from './device-routes.js';
import { makeHttpServer } from './http-server.js';
import { OpenRequests } from './open-requests.js';
import { routeUpgrades } from './upgrade-router.js';

let server: FastifyInstance;

beforeEach(async () => {
  server = makeHttpServer({
    deviceRoutes: new DeviceRoutes(),
    openRequests: new OpenRequests(),
    tls: undefined,
    logger: pino({ enabled: false }),
    onRoute: () => undefined,
    pages: {},
  });
  server.post('/graphql', (request) => ({ echo: request.body }));
  await server.ready();
  routeUpgrades(server.server, new Map([['/graphql', (_request, socket) => void socket.end('to the WebSocket')]]));
  await server.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => server.close());

/** Sends the requests over one connection, each after an answer, and reads until its end. */
async function exchange(...requests: readonly string[]): Promise<string> {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  for (const [index, request] of requests.entries()) {
    if (index > 0) await once(socket, 'readable');
    socket.write(request);
  }
  return text(socket);
}

function post(body: string, headers: readonly string[]): string {
  const lines = [
    'POST /graphql HTTP/1.1',
    'Host: hub',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAAB'];
const webSocket = (protocol: string) =>
  `GET /graphql HTTP/1.1\r\nHost: hub\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;

describe('a request with `Upgrade`', () => {
  it('of another protocol than WebSocket gets the answer of its route, and may be followed by others', async () => {
    const large = JSON.stringify({ text: 'x'.repeat(300_000) });
    const answers = await exchange(post(large, h2c), post('{"n":2}', ['Connection: close']));
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(answers).toContain(`{"echo":${large}}`);
    expect(answers).toContain('{"echo":{"n":2}}');
  });

  it.each(['websocket', 'WebSocket', 'h2c, websocket'])('%s reaches the WebSocket of its path', async (protocol) => {
    expect(await exchange(webSocket(protocol))).toBe('to the WebSocket');
  });

  it('websocket is refused at a path without one', async () => {
    const answer = await exchange(webSocket('websocket').replace('/graphql', '/elsewhere'));
    expect(answer).toMatch(/^HTTP\/1\.1 404 .*NOT_FOUND/s);
  });
});
