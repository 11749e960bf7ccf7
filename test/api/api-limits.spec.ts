/**
 * The limits of the API over HTTP on the built hub: shape, cost, budget, documents by hash and by
 * list, introspection, other origins, and the audits of GraphQL over HTTP.
 */
import { createHash, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { auditServer } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../src/eventually.js';
import { ask, type GraphqlAnswer } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

const VIEWER = '{ viewer { name } }';
/**
 * The cost of the most expensive operation, as the budget: a second one within a second exceeds it.
 */
const BUDGET = 10_000;
const EXPENSIVE = '{ devices(first: 200) { nodes { id tools { name policy { pattern } } } } }';

let hub: HubProcess;

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_BUDGET_POINTS: String(BUDGET) } });
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

interface Answer extends GraphqlAnswer {
  readonly extensions?: { readonly budget?: Readonly<Record<'cost' | 'limit' | 'remaining' | 'resetMs', number>> };
}

async function post(
  body: unknown,
  key = hub.adminKey,
): Promise<{ response: Response; answer: Answer; codes: unknown[] }> {
  const response = await fetch(`${hub.httpUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as Answer;
  return { response, answer, codes: (answer.errors ?? []).map(({ extensions }) => extensions?.code) };
}

/** A new key, which has its own budget. */
async function makeKey(): Promise<string> {
  const query = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }`;
  const { createApiKey } = await ask<{ createApiKey: { secret: string } }>(hub, query, {
    input: { name: randomUUID(), scopes: ['DEVICES_READ', 'JOBS_READ'] },
  });
  return createApiKey.secret;
}

describe('an operation', () => {
  const times = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(index)).join(' ');

  it.each<[string, unknown, number, string]>([
    [
      'deep',
      { query: `{ device(id: "d") ${times(8, () => '{ calls { nodes { device ')}{ id }${' } } }'.repeat(8)} }` },
      400,
      'COST_LIMIT',
    ],
    ['aliases', { query: `{ ${times(51, (index) => `a${index}: viewer { name }`)} }` }, 400, 'COST_LIMIT'],
    ['directives', { query: `{ viewer { ${times(51, () => 'name @include(if: true)')} } }` }, 400, 'COST_LIMIT'],
    ['cost', { query: '{ devices(first: 200) { nodes { calls(first: 200) { nodes { id } } } } }' }, 400, 'COST_LIMIT'],
    [
      'acts',
      { query: `mutation { ${times(51, (index) => `m${index}: pauseJob(id: "j") { job { id } }`)} }` },
      400,
      'COST_LIMIT',
    ],
    ['tokens', { query: `{ viewer { ${times(5_001, () => 'name')} } }` }, 400, 'BAD_USER_INPUT'],
    ['a batch', [{ query: VIEWER }, { query: VIEWER }], 400, 'BAD_USER_INPUT'],
    ['bytes', { query: `{ viewer { name } } #${'x'.repeat(1_100_000)}` }, 413, 'BAD_USER_INPUT'],
  ])('has its limit: %s', async (_what, body, status, code) => {
    const { response, answer, codes } = await post(body);
    expect({ status: response.status, codes: [...new Set(codes)] }).toEqual({ status, codes: [code] });
    expect(answer.errors?.[0]?.message).toMatch(/\d|batch|Body|operation/i);
  });
});

describe('the budget of a key', () => {
  it('is in every answer, in extensions and in headers', async () => {
    const { response, answer } = await post({ query: '{ devices(first: 10) { nodes { id } } }' }, await makeKey());
    expect(answer.extensions?.budget).toEqual({
      cost: 20,
      limit: BUDGET,
      remaining: BUDGET - 20,
      resetMs: expect.any(Number),
    });
    expect(response.headers.get('ratelimit-limit')).toBe(String(BUDGET));
    expect(response.headers.get('ratelimit-remaining')).toBe(String(BUDGET - 20));
    expect(response.headers.get('ratelimit-reset')).toBe('1');
  });

  it('refuses who has spent it, says when to come again, and is full again then', async () => {
    const key = await makeKey();
    const answers = await eventually(
      () => Promise.all([1, 2, 3, 4].map(() => post({ query: EXPENSIVE }, key))),
      (all) => all.some(({ codes }) => codes.includes('RATE_LIMITED')),
    );
    const refused = answers.find(({ codes }) => codes.includes('RATE_LIMITED'));
    expect(refused?.response.status).toBe(429);
    expect(refused?.response.headers.get('retry-after')).toBe('1');
    expect(refused?.response.headers.get('ratelimit-remaining')).toBe('0');
    expect(refused?.answer).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } }],
      extensions: { budget: { remaining: 0 } },
    });
    await eventually(
      async () => (await post({ query: EXPENSIVE }, key)).codes,
      (codes) => codes.length === 0,
    );
  });

  it('is spent below /api/ and at /mcp too, and is separate for each key', async () => {
    const key = await makeKey();
    const other = await makeKey();
    const headers = { authorization: `Bearer ${key}` };
    const rest = await fetch(`${hub.httpUrl}/api/jobs/${randomUUID()}/results.csv`, { headers });
    expect(rest.status).toBe(404);
    expect(Number(rest.headers.get('ratelimit-remaining'))).toBeLessThan(BUDGET);
    const mcp = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const asked = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers };
    const refused = await eventually(
      async () => {
        await Promise.all([1, 2, 3].map(() => post({ query: EXPENSIVE }, key)));
        const agent = await fetch(`${hub.httpUrl}/mcp`, { method: 'POST', headers: asked, body: JSON.stringify(mcp) });
        const route = await fetch(`${hub.httpUrl}/api/jobs/${randomUUID()}/results.csv`, { headers });
        return [agent, route].map((response) => [response.status, response.headers.get('retry-after')]);
      },
      (answers) => answers.every(([status]) => status === 429),
    );
    expect(refused).toEqual([
      [429, '1'],
      [429, '1'],
    ]);
    expect((await post({ query: VIEWER }, other)).codes).toEqual([]);
  });
});

describe('keys that are guessed', () => {
  const wrong = () => ({ authorization: `Bearer flt_${randomUUID()}` });
  const body = JSON.stringify({ query: VIEWER });
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const mcp = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const doors: readonly (readonly [path: string, init: RequestInit])[] = [
    ['/graphql', { method: 'POST', body, headers: json }],
    ['/mcp', { method: 'POST', body: mcp, headers: json }],
    ['/openapi.json', {}],
    // As a proxy passes it on: from this machine it is open.
    ['/metrics', { headers: { 'x-forwarded-for': '192.0.2.1' } }],
  ];
  const askAt = ([path, init]: (typeof doors)[number], key: Readonly<Record<string, string>>) =>
    fetch(`${hub.httpUrl}${path}`, { ...init, headers: { ...(init.headers as Record<string, string>), ...key } });

  async function closeCode(authorization: string): Promise<number> {
    const socket = new WebSocket(`${hub.httpUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } })));
    socket.on('message', () => socket.close(1000));
    return new Promise((resolve) => socket.once('close', resolve));
  }

  it('are 429 after so many of one address, at every door, while valid keys from there go on', async () => {
    const [graphql] = doors as readonly [(typeof doors)[number]];
    const statuses = await Promise.all(Array.from({ length: 320 }, async () => (await askAt(graphql, wrong())).status));
    expect([
      statuses.filter((status) => status === 401).length,
      statuses.filter((status) => status === 429).length,
    ]).toEqual([300, 20]);
    const valid = { authorization: `Bearer ${hub.adminKey}` };
    for (const door of doors) {
      const refused = await askAt(door, wrong());
      expect([refused.status, Number(refused.headers.get('retry-after'))], door[0]).toEqual([
        429,
        expect.toSatisfy(isSeconds),
      ]);
      expect(await refused.text()).toContain('RATE_LIMITED');
      expect((await askAt(door, valid)).status, door[0]).toBe(200);
    }
    expect(await closeCode(wrong().authorization)).toBe(4429);
    expect(await closeCode(valid.authorization)).toBe(1000);
    // A key that is new to this process is admitted, and a request without one gets a hint.
    expect((await askAt(graphql, { authorization: `Bearer ${await makeKey()}` })).status).toBe(200);
    expect((await askAt(graphql, {})).status).toBe(401);
  });

  const isSeconds = (value: number) => value >= 1 && value <= 60;
});

describe('a document by its hash', () => {
  const hashOf = (query: string) => createHash('sha256').update(query).digest('hex');
  const persistedQuery = { version: 1, sha256Hash: hashOf(VIEWER) };

  it('is asked for once, and runs by its hash from then on, over GET as well', async () => {
    const unknown = await post({ extensions: { persistedQuery } });
    expect([unknown.response.status, unknown.codes]).toEqual([400, ['PERSISTED_QUERY_NOT_FOUND']]);
    expect(unknown.answer.errors?.[0]?.message).toBe('PersistedQueryNotFound');
    expect((await post({ query: VIEWER, extensions: { persistedQuery } })).codes).toEqual([]);
    expect((await post({ extensions: { persistedQuery } })).answer.data).toHaveProperty('viewer');
    const url = `${hub.httpUrl}/graphql?extensions=${encodeURIComponent(JSON.stringify({ persistedQuery }))}`;
    const got = await fetch(url, { headers: { authorization: `Bearer ${hub.adminKey}` } });
    expect(await got.json()).toHaveProperty('data.viewer');
  });

  it('must have that hash', async () => {
    const wrong = await post({ query: '{ viewer { id } }', extensions: { persistedQuery } });
    expect([wrong.response.status, wrong.codes]).toEqual([400, ['BAD_USER_INPUT']]);
  });
});

describe('pages of other origins', () => {
  it.each(['/graphql', '/api/jobs/j/results.csv', '/mcp', '/health/live'])(
    'receive nothing that lets them use %s',
    async (where) => {
      const origin = { origin: 'https://elsewhere.example' };
      const preflight = await fetch(`${hub.httpUrl}${where}`, {
        method: 'OPTIONS',
        headers: {
          ...origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      });
      expect([403, 404, 405]).toContain(preflight.status);
      const plain = await fetch(`${hub.httpUrl}${where}`, {
        headers: { ...origin, authorization: `Bearer ${hub.adminKey}` },
      });
      for (const { headers } of [preflight, plain])
        expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    },
  );
});

/** What GraphQL over HTTP says should be and is not, with our reason. */
const refusedIs4xx =
  'A refusal has a status of 400 or more for every accepted type, so that scripts and logs need not read the body.';
const exceptions: Readonly<Record<string, string>> = { '572B': refusedIs4xx, '7B9B': refusedIs4xx, FDE2: refusedIs4xx };

describe('the audits of GraphQL over HTTP', () => {
  it('find nothing that must be otherwise, and nothing that should be but what is listed here', async () => {
    const fetchFn = (url: string, init: RequestInit = {}) =>
      fetch(url, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${hub.adminKey}` },
      });
    const results = await auditServer({ url: `${hub.httpUrl}/graphql`, fetchFn });
    const failed = results.flatMap((result) =>
      result.status === 'ok' ? [] : [`${result.id} ${result.name}: ${result.reason}`],
    );
    expect(results.length).toBeGreaterThan(50);
    expect(failed.map((line) => line.split(' ')[0]).sort(), failed.join('\n')).toEqual(Object.keys(exceptions).sort());
  });
});

describe('a hub that says what may be asked', () => {
  let strict: HubProcess;

  beforeAll(async () => {
    const dataDir = makeDataDir();
    const file = path.join(dataDir, 'queries.json');
    writeFileSync(file, JSON.stringify({ viewer: VIEWER, schema: '{ __schema { queryType { name } } }' }));
    strict = await startHub({
      dataDir,
      env: { FLOTILLA_QUERIES: 'listed', FLOTILLA_QUERIES_FILE: file, FLOTILLA_INTROSPECTION: 'off' },
    });
  });
  afterAll(async () => {
    expect(await strict.stop()).toBe(0);
    removeDataDir(strict.dataDir);
  });

  it('runs the documents of its list and no others, and keeps its schema to itself', async () => {
    const codesOf = async (query: string) => {
      const response = await fetch(`${strict.httpUrl}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${strict.adminKey}` },
        body: JSON.stringify({ query }),
      });
      const { errors = [] } = (await response.json()) as GraphqlAnswer;
      return [response.status, ...errors.map(({ extensions }) => extensions?.code)];
    };
    expect(await codesOf(VIEWER)).toEqual([200]);
    expect(await codesOf('{ viewer { id } }')).toEqual([403, 'QUERY_NOT_LISTED']);
    expect(await codesOf('{ __schema { queryType { name } } }')).toEqual([400, 'BAD_USER_INPUT', 'BAD_USER_INPUT']);
  });
});
