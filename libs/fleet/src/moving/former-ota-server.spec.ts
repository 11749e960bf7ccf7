import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FormerOtaServer } from './former-ota-server.js';

interface Arrived {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { timeoutMs = 20_000 }: { readonly timeoutMs?: number } = {},
) {
  const arrived: Arrived[] = [];
  const logged: string[] = [];
  const http: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, rawHeaders, url } = request;
    arrived.push({ method, url, rawHeaders, body: Buffer.concat(chunks).toString() });
    handle(request, response);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const log = (details: Readonly<Record<string, unknown>>, message: string) =>
    void logged.push(`${message} ${JSON.stringify(details)}`);
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/xiaozhi/ota/`;
  const limits = { timeoutMs, answerBytesMax: 1_000 };
  const logger = { info: log, warn: log, error: log };
  const server = new FormerOtaServer({ url, limits, pseudonym: 'this-hub', logger });
  closers.push(
    () => server.close(),
    () => {
      http.closeAllConnections();
      http.close();
    },
  );
  return { arrived, logged, server, stop: () => http.close() };
}

const rawHeaders = [
  'Device-Id',
  '02:00:00:AA:BB:CC',
  'CLIENT-id',
  'uuid',
  'Connection',
  'close, X-Hop',
  'X-Hop',
  '1',
  'Host',
  'hub.example',
  'Content-Length',
  '999',
  'X-Forwarded-For',
  '10.9.9.9',
  'X-Unread',
  'a',
  'X-Unread',
  'b',
  'Via',
  '1.0 shop-proxy',
];
const asked = { method: 'POST', suffix: '/', rawHeaders, body: Buffer.from('{"é":1}'), address: '192.0.2.7' };

describe('a request to the former server', () => {
  it('has the headers of the board in their letter case, its address, and the bytes of its body', async () => {
    const { arrived, server } = await open((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json;charset=UTF-8' });
      response.end(' {"a":1}\n');
    });
    const answer = await server.ask({ ...asked, suffix: '/activate?v=1' });
    expect(answer).toMatchObject({ status: 200, contentType: 'application/json;charset=UTF-8' });
    expect(Buffer.from(answer?.body ?? []).toString()).toBe(' {"a":1}\n');
    const [request] = arrived;
    expect(request).toMatchObject({ method: 'POST', url: '/xiaozhi/ota/activate?v=1', body: '{"é":1}' });
    const headers = request?.rawHeaders ?? [];
    const pairs = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}`] : []));
    expect(pairs).toEqual(
      expect.arrayContaining(['Device-Id: 02:00:00:AA:BB:CC', 'CLIENT-id: uuid', 'X-Unread: a', 'X-Unread: b']),
    );
    expect(pairs).toEqual(expect.arrayContaining(['X-Real-IP: 192.0.2.7', 'X-Forwarded-For: 192.0.2.7']));
    expect(pairs.filter((pair) => pair.startsWith('Via: '))).toEqual(['Via: 1.0 shop-proxy', 'Via: 1.1 this-hub']);
    expect(pairs.join('\n')).not.toMatch(/X-Hop|10\.9\.9\.9|hub\.example|999/);
  });

  it('is one GET for a GET, and a redirect is not followed', async () => {
    const { arrived, server } = await open((_request, response) => {
      response.writeHead(302, { Location: '/elsewhere' }).end();
    });
    const answer = await server.ask({ ...asked, method: 'GET', suffix: '', body: Buffer.alloc(0) });
    expect(answer?.status).toBe(302);
    expect(arrived).toMatchObject([{ method: 'GET', url: '/xiaozhi/ota/', body: '' }]);
  });

  it.each<[string, (response: ServerResponse) => void, { readonly timeoutMs?: number }?]>([
    ['an error of the server', (response) => response.writeHead(503).end('{"token":"secret"}')],
    ['a long answer', (response) => response.end(`{"token":"secret${'x'.repeat(2_000)}"}`)],
    ['no answer in time', () => undefined, { timeoutMs: 300 }],
    [
      'an answer that breaks off',
      (response) => {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('{"token":"secret"', () => response.destroy());
      },
    ],
  ])('has no usable answer after %s, is sent once, and leaves no secret in the log', async (_name, handle, limits) => {
    const { arrived, logged, server } = await open((_request, response) => handle(response), limits);
    expect(await server.ask(asked)).toBeUndefined();
    expect(arrived).toHaveLength(1);
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toMatch(/secret|uuid/);
  });

  it('has no usable answer while the server is down', async () => {
    const { logged, server, stop } = await open(() => undefined);
    stop();
    expect(await server.ask(asked)).toBeUndefined();
    expect(logged[0]).toContain('ECONNREFUSED');
  });

  it('is sent no further when it comes back, also over another hub', async () => {
    const { arrived, logged, server } = await open(async (request, response) => {
      const { method = '', rawHeaders: headers } = request;
      const again = headers.map((value) => (value === '1.1 this-hub' ? '1.1 this-hub, 1.1 other-hub' : value));
      const answer = await server.ask({ ...asked, method, rawHeaders: again });
      response.writeHead(answer?.status ?? 502).end();
    });
    expect(await server.ask(asked)).toBeUndefined();
    expect(arrived).toHaveLength(1);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('it leads back to this hub: correct FLOTILLA_OTA_UPSTREAM');
  });
});
