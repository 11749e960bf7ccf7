import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminKey, openApi, type OpenApi } from './mounted-api.suite.js';

let api: OpenApi;

beforeAll(async () => {
  api = await openApi(
    { callTool: () => Promise.reject(new TypeError('the secret of the inside')) },
    { requestBytesMax: 20_000 },
  );
});

afterAll(() => api.close());

const admin = { authorization: `Bearer ${adminKey}` };

describe('a request without a valid key', () => {
  it.each([undefined, 'Bearer', 'Bearer wrong', 'Basic a2V5OkFETUlO'])(
    'with authorization %s learns nothing, not even the schema',
    async (authorization) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      expect(await api.post({ query: '{ __schema { types { name } } }' }, headers)).toMatchObject({
        status: 401,
        codes: ['UNAUTHENTICATED'],
      });
    },
  );

  it('gets the scheme to authenticate with', async () => {
    const { headers } = await fetch(`${api.httpUrl}/graphql?query={viewer{name}}`);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('is refused before its body is read', async () => {
    expect(await api.post('{ not json')).toMatchObject({ status: 401, codes: ['UNAUTHENTICATED'] });
  });
});

it('a client that is still sending a body which is too large receives the answer', async () => {
  const { hostname, port } = new URL(api.httpUrl);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  const headers = `host: hub\r\nauthorization: Bearer ${adminKey}\r\ncontent-type: application/json\r\n`;
  const half = ' '.repeat(100_000);
  socket.write(`POST /graphql HTTP/1.1\r\n${headers}content-length: ${2 * half.length}\r\n\r\n${half}`);
  // The hub has refused the body by then.
  for (let times = 0; times < 10; times += 1) await api.ask('{ viewer { name } }');
  expect(answer).toBe('');
  socket.write(half);
  await once(socket, 'close');
  expect(answer).toContain('HTTP/1.1 413');
});

describe('a request that is not a GraphQL request', () => {
  it.each([
    ['no JSON', '{ not json'],
    ['no object', '[1]'],
    ['no query', '{}'],
    ['a batch', JSON.stringify([{ query: '{ viewer { name } }' }])],
    ['a query that is a number', JSON.stringify({ query: 7 })],
    [
      'a syntax tree in place of a query',
      JSON.stringify({ query: JSON.stringify({ kind: 'Document', definitions: [] }) }),
    ],
    ['a syntax error', JSON.stringify({ query: '{ viewer ' })],
    ['an unknown field', JSON.stringify({ query: '{ viewer { nam } }' })],
    [
      'two operations and no name',
      JSON.stringify({ query: 'query A { viewer { name } } query B { viewer { name } }' }),
    ],
    [
      'more tokens than are parsed',
      JSON.stringify({ query: `{ viewer { ${'name '.repeat(6_000)} } }`.slice(0, 19_000).concat('} }') }),
    ],
  ])('with %s is BAD_USER_INPUT', async (_what, body) => {
    const { status, data, codes } = await api.post(body, admin);
    expect({ status, data, codes: [...new Set(codes)] }).toEqual({ status: 400, codes: ['BAD_USER_INPUT'] });
  });

  it.each<[string, string, string, RegExp]>([
    ['no query', '{}', 'application/json', /no "query".*GraphQL document/],
    ['no JSON', '{', 'application/json', /not valid JSON/],
    [
      'a member that would be a prototype',
      '{"query":"{ viewer { name } }","variables":{"__proto__":{}}}',
      'application/json',
      /"__proto__"/,
    ],
    ['nothing', '', 'application/json', /is empty/],
    ['a batch', '[{"query":"{ viewer { name } }"}]', 'application/json', /one JSON object/],
    ['another type', 'x', 'text/plain', /Content-Type: application\/json/],
    [
      'a subscription',
      '{"query":"subscription { deviceChanged { id } }"}',
      'application/json',
      /WebSocket.*graphql-transport-ws/,
    ],
  ])('with %s gets a message with the solution', async (_what, body, type, message) => {
    const response = await fetch(`${api.httpUrl}/graphql`, {
      method: 'POST',
      headers: { ...admin, 'content-type': type },
      body,
    });
    expect(await response.json()).toMatchObject({
      errors: [{ message: expect.stringMatching(message), extensions: { code: 'BAD_USER_INPUT' } }],
    });
  });

  it('with the hash of a stored syntax tree is refused as well', async () => {
    const query = JSON.stringify(parse('{ viewer { name } }', { noLocation: true }));
    const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') } };
    const client = api.client(adminKey);
    await expect(client.iterate({ query, extensions }).next()).rejects.toMatchObject([
      { message: expect.stringContaining('Syntax Error') },
    ]);
    await client.dispose();
    expect(await api.post({ extensions }, admin)).toMatchObject({ status: 400, codes: ['BAD_USER_INPUT'] });
  });

  it('with a body over the limit gets the limit', async () => {
    const { status, codes, messages } = await api.post({ query: `{ viewer { name } } #${'x'.repeat(30_000)}` }, admin);
    expect({ status, codes }).toEqual({ status: 413, codes: ['BAD_USER_INPUT'] });
    expect(messages).toEqual([expect.stringContaining('at most 20000 bytes')]);
  });

  it('cannot change anything by GET', async () => {
    const query = encodeURIComponent(
      'mutation { tagDevices(input: {filter: {all: true}, add: ["x"]}) { changedCount } }',
    );
    const response = await fetch(`${api.httpUrl}/graphql?query=${query}`, { headers: admin });
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  });

  it('may have null for extensions and variables', async () => {
    const body = { query: '{ viewer { name scopes } }', extensions: null, variables: null, operationName: null };
    expect(await api.post(body, admin)).toMatchObject({ status: 200, data: { viewer: { scopes: ['ADMIN'] } } });
  });
});

describe('input that does not fit', () => {
  /** Each is asked three times: the second time compiled, the third from the cache. */
  it.each([
    ['first: 0', '{ devices(first: 0) { nodes { id } } }', {}, '"first" must be between 1 and 200, but is 0'],
    ['first: 201', '{ events(first: 201) { nodes { id } } }', {}, '"first" must be between 1 and 200, but is 201'],
    ['a cursor of nowhere', '{ devices(after: "nonsense") { nodes { id } } }', {}, 'ursor'],
    ['a cursor of another list', '{ calls(after: "ZGV2aWNl") { nodes { id } } }', {}, 'ursor'],
    ['text for a number', 'query ($n: Int) { devices(first: $n) { nodes { id } } }', { n: 'many' }, 'Variable "$n"'],
    ['an unknown enum value', '{ devices(filter: {presence: AWAY}) { nodes { id } } }', {}, 'Presence'],
    [
      'an unknown member',
      'query ($f: DeviceFilter) { devices(filter: $f) { nodes { id } } }',
      { f: { colour: 'red' } },
      'colour',
    ],
    [
      'an invalid date',
      'query ($at: DateTime) { events(filter: {since: $at}) { nodes { id } } }',
      { at: '2026-02-30T00:00:00Z' },
      'Variable "$at"',
    ],
    ['a missing input', 'mutation { callTool(input: {deviceId: "d"}) { call { id } } }', {}, 'CallToolInput.tool'],
    ['NUL in a variable', 'query ($s: String) { devices(filter: {search: $s}) { nodes { id } } }', { s: 'a\0' }, 'NUL'],
    [
      'a lone surrogate in a variable',
      'query ($f: DeviceFilter) { devices(filter: $f) { nodes { id } } }',
      { f: { any: [{ tags: ['x', '\ud800'] }] } },
      '"f.any.0.tags.1" contains the lone surrogate U+D800',
    ],
    [
      'NUL in a name within JSON',
      'mutation ($i: CallToolInput!) { callTool(input: $i) { call { id } } }',
      { i: { deviceId: 'd', tool: 't', arguments: { list: [{ 'a\0': 1 }] } } },
      '"i.arguments.list.0.a\\u0000" contains the character NUL',
    ],
    [
      'NUL in a literal',
      String.raw`mutation { callTool(input: {deviceId: "d", tool: "t", arguments: {a: ["\u0000"]}}) { call { id } } }`,
      {},
      '"input.arguments.a" contains the character NUL',
    ],
  ])('%s is BAD_USER_INPUT and named', async (_what, query, variables, message) => {
    for (let time = 0; time < 3; time++) {
      const { codes, messages } = await api.ask(query, variables);
      expect(codes).toEqual(['BAD_USER_INPUT']);
      expect(messages).toEqual([expect.stringContaining(message)]);
    }
  });

  it('deeply nested JSON is BAD_USER_INPUT', async () => {
    const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;
    const query = 'mutation ($a: JSON) { callTool(input: {deviceId: "d", tool: "t", arguments: $a}) { call { id } } }';
    const body = `{"query":${JSON.stringify(query)},"variables":{"a":${deep}}}`;
    expect(await api.post(body, admin)).toMatchObject({
      codes: ['BAD_USER_INPUT'],
      messages: [expect.stringContaining('32 levels')],
    });
  });

  it('a deeply nested input object is BAD_USER_INPUT', async () => {
    const query = 'query ($f: DeviceFilter) { devices(filter: $f) { nodes { id } } }';
    const filter = `${'{"not":'.repeat(1_500)}{}${'}'.repeat(1_500)}`;
    const body = `{"query":${JSON.stringify(query)},"variables":{"f":${filter}}}`;
    expect(await api.post(body, admin)).toMatchObject({
      status: 400,
      codes: ['BAD_USER_INPUT'],
      messages: [/at most 40 levels/],
    });
  });

  it.each(['no-uuid', '', "'; DROP TABLE device; --"])(
    'an id "%s" that was never given out finds nothing',
    async (id) => {
      const { data, codes } = await api.ask(
        'query ($id: ID!) { device(id: $id) { id } call(id: $id) { id } job(id: $id) { id } }',
        { id },
      );
      expect({ data, codes }).toEqual({ data: { device: null, call: null, job: null }, codes: [] });
    },
  );
});

describe('an operation that would cost too much', () => {
  it('is refused before it runs', async () => {
    api.lookups.length = 0;
    const { status, codes } = await api.ask('{ devices(first: 200) { nodes { calls(first: 200) { nodes { id } } } } }');
    expect({ status, codes }).toEqual({ status: 400, codes: ['COST_LIMIT'] });
    expect(api.lookups).toEqual([]);
  });

  it('is counted for the selected operation', async () => {
    const query =
      'query Small { viewer { name } } ' +
      'query Big { devices(first: 200) { nodes { calls(first: 200) { nodes { id } } } } }';
    expect(await api.post({ query, operationName: 'Small' }, admin)).toMatchObject({ status: 200 });
    expect(await api.post({ query, operationName: 'Big' }, admin)).toMatchObject({ codes: ['COST_LIMIT'] });
  });
});

describe('an internal error', () => {
  it('is masked for the caller and logged once', async () => {
    api.failures.length = 0;
    const { codes, messages } = await api.ask(
      'mutation { callTool(input: {deviceId: "d", tool: "t"}) { call { id } } }',
    );
    expect(codes).toEqual(['INTERNAL']);
    expect(messages.join()).not.toContain('secret');
    expect(api.failures).toHaveLength(1);
  });
});
