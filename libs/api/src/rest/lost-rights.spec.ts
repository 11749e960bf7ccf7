import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Scope } from '@flotilla/registry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { CostBudget } from '../limits/cost-budget.js';
import { serveRest } from './rest-routes.js';

let server: FastifyInstance;
let port: number;
let rights: readonly Scope[] | Error;
let isRead: boolean;
let uploads: ('begun' | 'complete' | 'broken')[];

async function* withoutEnd() {
  try {
    for (;;) {
      yield 'a row\n';
      await pause(5);
    }
  } finally {
    isRead = true;
  }
}

beforeAll(async () => {
  server = Fastify({ forceCloseConnections: true });
  const ofRequest = async () => {
    if (rights instanceof Error) throw rights;
    return { viewer: { kind: 'KEY', id: 'k', name: 'k', scopes: rights } as const };
  };
  serveRest(server, { callers: { ofRequest }, budget: new CostBudget(1_000), requestCost: 1, keyCheckMs: 20 }, [
    {
      method: 'GET',
      url: '/api/rows',
      scope: 'JOBS_READ',
      handle: async (_request, reply) => reply.send(Readable.from(withoutEnd(), { objectMode: false })),
    },
    {
      method: 'POST',
      url: '/api/file',
      scope: 'FIRMWARE_WRITE',
      handle: async ({ raw }, reply) => {
        uploads.push('begun');
        await finished(raw.resume()).then(
          () => uploads.push('complete'),
          () => uploads.push('broken'),
        );
        return reply.code(201).send();
      },
    },
  ]);
  await server.listen({ host: '127.0.0.1', port: 0 });
  port = (server.server.address() as { port: number }).port;
});
afterAll(() => server.close());

beforeEach(() => {
  rights = ['JOBS_READ', 'FIRMWARE_WRITE'];
  isRead = false;
  uploads = [];
});

const gone = new ApiError('UNAUTHENTICATED', 'no such key');

describe('a caller who loses the rights during a request', () => {
  it.each([
    ['the key', gone],
    ['the scope', ['DEVICES_READ'] as const],
  ])('gets no more rows: %s', async (_what, left) => {
    const [answer] = (await once(request({ port, path: '/api/rows' }).end(), 'response')) as [IncomingMessage];
    await once(answer, 'data');
    rights = new TypeError('PostgreSQL is unavailable');
    await pause(100);
    expect(isRead).toBe(false);
    rights = left;
    await expect(finished(answer.resume())).rejects.toThrow('aborted');
    await expect.poll(() => isRead).toBe(true);
  });

  it('cannot complete an upload', async () => {
    const upload = request({ port, path: '/api/file', method: 'POST', headers: { 'content-length': 6 } });
    upload.write('abc');
    const end = once(upload, 'response');
    await expect.poll(() => uploads).toEqual(['begun']);
    rights = gone;
    await expect(end).rejects.toThrow('socket hang up');
    await expect.poll(() => uploads).toEqual(['begun', 'broken']);
  });
});
