/** Input that nests without end is refused with a reason on every path: no internal error. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { askMcp } from '../src/agents/ask-mcp.js';
import { send, subscriptions, type GraphqlAnswer } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

let hub: HubProcess;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

describe('what nests without end', () => {
  const DEPTH = 50_000;
  const documents: Readonly<Record<string, string>> = {
    'braces that are never closed': '{a'.repeat(DEPTH),
    'braces that are closed': `${'{a'.repeat(DEPTH)}${'}'.repeat(DEPTH)}`,
    'brackets in a value': `{ device(id: ${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}) { id } }`,
    'objects in a value': `{ device(id: ${'{a:'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}) { id } }`,
    'lists in a type': `query ($a: ${'['.repeat(DEPTH)}Int${']'.repeat(DEPTH)}) { viewer { id } }`,
    'fragments in each other': `{ ${'... { '.repeat(DEPTH)} viewer { id } ${'}'.repeat(DEPTH)} }`,
  };
  const persisted = (query: string) => ({
    persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') },
  });
  const refused = { message: expect.stringContaining('100 levels'), extensions: { code: 'COST_LIMIT' } };

  async function post(body: string): Promise<readonly [number, GraphqlAnswer]> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${hub.adminKey}` };
    const response = await fetch(`${hub.httpUrl}/graphql`, { method: 'POST', headers, body });
    return [response.status, (await response.json()) as GraphqlAnswer];
  }

  it.each(Object.entries(documents))('%s: COST_LIMIT over HTTP, by hash and over a WebSocket', async (_what, query) => {
    expect(await post(JSON.stringify({ query }))).toEqual([400, { errors: [refused] }]);
    expect(await post(JSON.stringify({ query, extensions: persisted(query) }))).toEqual([400, { errors: [refused] }]);
    const client = subscriptions(hub);
    await expect(client.iterate({ query }).next()).rejects.toMatchObject([refused]);
    await client.dispose();
  });

  it.each([
    ['lists', '['.repeat(DEPTH), ']'.repeat(DEPTH)],
    ['objects', '{"not":'.repeat(DEPTH), `{}${'}'.repeat(DEPTH)}`],
    ['lists and objects', '{"any":['.repeat(DEPTH), ']}'.repeat(DEPTH)],
  ])('%s in variables: BAD_USER_INPUT over HTTP and over a WebSocket', async (_what, opening, closing) => {
    const query = 'query ($f: DeviceFilter) { devices(filter: $f) { nodes { id } } }';
    const body = `{"query":${JSON.stringify(query)},"variables":{"f":${opening}${closing}}}`;
    const error = { message: expect.stringContaining('at most 40 levels'), extensions: { code: 'BAD_USER_INPUT' } };
    expect(await post(body)).toEqual([400, { errors: [error] }]);
    expect(await overSocket(body)).toMatchObject({ type: 'error', payload: [error] });
  });

  /** JSON.stringify of the client would be what overflows. */
  function overSocket(payload: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${hub.httpUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const init = { type: 'connection_init', payload: { authorization: `Bearer ${hub.adminKey}` } };
      socket.on('open', () => socket.send(JSON.stringify(init)));
      socket.on('error', reject);
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { readonly type: string };
        if (message.type === 'connection_ack') return socket.send(`{"type":"subscribe","id":"1","payload":${payload}}`);
        socket.close();
        resolve(message);
      });
    });
  }

  it.each([
    [
      'arguments of agents',
      (deep: string) => `{"name":"call_tool","arguments":{"device":"d","tool":"t","arguments":${deep}}}`,
    ],
    [
      'what agents are not asked for',
      (deep: string) => `{"name":"job_status","arguments":{"job":"j"},"_meta":{"x":${deep}}}`,
    ],
  ])('%s: an error of the protocol', async (_what, params) => {
    const deep = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`;
    const answer = await askMcp(hub, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params(deep)}}`);
    expect(JSON.stringify(answer)).not.toMatch(/call stack|-32603/);
    expect(answer).toHaveProperty('error');
  });

  it('leaves the hub well', async () => {
    expect((await send(hub, '{ viewer { name } }')).errors).toBeUndefined();
    expect(hub.log()).not.toMatch(/call stack/);
  });
});
