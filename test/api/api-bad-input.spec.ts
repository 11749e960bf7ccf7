/**
 * Mistakes of integrators: each answer names the input and the rule with the right code, nothing is
 * sent or recorded, and the hub keeps working.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send, type GraphqlAnswer } from '../src/api/graphql-client.js';
import { rawRequest } from '../src/api/raw-request.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

/** The arguments after the first. */
type Tail<Run extends (...args: never[]) => unknown> = Parameters<Run> extends [unknown, ...infer Rest] ? Rest : never;

let hub: HubProcess;
let fleet: SimulatedFleet;

beforeAll(async () => {
  hub = await startHub();
  fleet = startFleet(hub, { devices: 3 });
  await online(hub, 3);
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

describe('a malformed request', () => {
  const raw = (...sent: Tail<typeof rawRequest>) => rawRequest(hub, ...sent);
  const codeOf = ({ errors }: GraphqlAnswer) => [...new Set(errors?.map(({ extensions }) => extensions?.code))];
  const viewer = '{ viewer { name } }';

  it.each<[string, string, Record<string, string>, number]>([
    ['invalid JSON', '{"query": ', {}, 400],
    ['an empty body', '', {}, 400],
    ['a number', '7', {}, 400],
    ['a batch', JSON.stringify([{ query: viewer }, { query: viewer }]), {}, 400],
    ['no query', JSON.stringify({ variables: {} }), {}, 400],
    ['an empty query', JSON.stringify({ query: '' }), {}, 400],
    ['a query that is only a comment', JSON.stringify({ query: '# nothing' }), {}, 400],
    ['an unknown operation', JSON.stringify({ query: `query A ${viewer}`, operationName: 'B' }), {}, 400],
    ['variables that are a list', JSON.stringify({ query: viewer, variables: [1] }), {}, 400],
    [
      'a member named __proto__',
      `{"query": ${JSON.stringify(viewer)}, "variables": {"__proto__": {"scopes": ["ADMIN"]}}}`,
      {},
      400,
    ],
    ['a form', 'query=%7Bviewer%7Bname%7D%7D', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['XML', '<query/>', { 'content-type': 'application/xml' }, 415],
    ['a body over 1 MiB', JSON.stringify({ query: `${viewer} #${'x'.repeat(1_100_000)}` }), {}, 413],
  ])('%s is BAD_USER_INPUT', async (_what, body, headers, status) => {
    const answer = await raw(body, headers);
    expect([answer.status, codeOf(answer.body)]).toEqual([status, ['BAD_USER_INPUT']]);
    expect(answer.body.errors?.[0]?.message).toBeTruthy();
  });

  it('may be a GET for a query, never for a mutation', async () => {
    const get = (query: string) => raw('', {}, { method: 'GET', path: `/graphql?query=${encodeURIComponent(query)}` });
    expect(await get(viewer)).toMatchObject({ status: 200, body: { data: { viewer: { name: 'admin' } } } });
    const acting = await get('mutation { pauseJob(id: "x") { job { id } } }');
    expect([acting.status, codeOf(acting.body)]).toEqual([405, ['BAD_USER_INPUT']]);
    const odd = await raw(
      '',
      {},
      { method: 'GET', path: `/graphql?query=${encodeURIComponent(viewer)}&variables=nonsense` },
    );
    expect([odd.status, codeOf(odd.body)]).toEqual([400, ['BAD_USER_INPUT']]);
  });

  it('may have null where GraphQL over HTTP allows it', async () => {
    const nothing = { variables: null, operationName: null, extensions: null };
    expect(await raw(JSON.stringify({ query: viewer, ...nothing }))).toMatchObject({
      status: 200,
      body: { data: { viewer: {} } },
    });
  });

  it.each<[string, string, number, string, string | undefined]>([
    ['GET', '/api/nothing', 404, 'There is nothing at /api/nothing.', undefined],
    ['GET', '/api/%zz', 400, 'not a valid url', undefined],
    ['PUT', '/graphql', 405, 'supports GET, HEAD, POST', 'GET, HEAD, POST'],
    ['GET', '/api/firmware?x=1', 405, 'supports POST', 'POST'],
    ['DELETE', '/api/audit.jsonl', 405, 'supports GET, HEAD', 'GET, HEAD'],
    ['GET', '/api/audit.jsonl?sinse=2026-01-01T00:00:00Z', 400, 'no parameter "sinse"', undefined],
  ])('to a path or method that does not exist is refused: %s %s', async (method, path, status, message, allow) => {
    const { body, ...answer } = await raw('', {}, { method, path });
    expect({ status: answer.status, allow: answer.headers['allow'] }).toEqual({ status, allow });
    expect(body).toEqual({
      code: status === 404 ? 'NOT_FOUND' : 'BAD_USER_INPUT',
      message: expect.stringContaining(message),
    });
  });

  it('to an unknown address is answered with the console for a browser, as not found', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/nothing', '/devices/a/b', '/api/nothing']) {
      const answer = await fetch(hub.httpUrl + path, { headers: browser });
      expect([answer.status, answer.headers.get('content-type')], path).toEqual([404, 'text/html; charset=utf-8']);
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await answer.text()).toContain('<div id="root">');
    }
    const script = await fetch(`${hub.httpUrl}/assets/gone.js`, { headers: { accept: '*/*' } });
    expect([script.status, await script.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  });

  it('gets no leave for the scripts of other sites', async () => {
    const answer = await raw(JSON.stringify({ query: viewer }), { origin: 'https://elsewhere.example' });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const preflight = await fetch(`${hub.httpUrl}/graphql`, {
      method: 'OPTIONS',
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('an operation that does not fit', () => {
  const deepFilter = (levels: number): string => (levels === 0 ? '{all: true}' : `{not: ${deepFilter(levels - 1)}}`);
  const aliases = Array.from({ length: 51 }, (_, index) => `a${index}: viewer { name }`).join(' ');
  const callWith = 'mutation ($i: CallToolInput!) { callTool(input: $i) { call { id } } }';
  const bottomless = (levels: number): unknown => (levels === 0 ? 1 : [bottomless(levels - 1)]);

  it.each<[string, string, Readonly<Record<string, unknown>>, string, string]>([
    ['first: 0', '{ devices(first: 0) { nodes { id } } }', {}, 'BAD_USER_INPUT', '"first" must be between 1 and 200'],
    ['first: 201', '{ calls(first: 201) { nodes { id } } }', {}, 'BAD_USER_INPUT', '"first" must be between 1 and 200'],
    ['first: -1', '{ tools(first: -1) { nodes { name } } }', {}, 'BAD_USER_INPUT', '"first" must be between 1 and 200'],
    ['first: 2^31', '{ jobs(first: 2147483648) { nodes { id } } }', {}, 'BAD_USER_INPUT', '32-bit'],
    ['no cursor', '{ events(after: "x") { nodes { id } } }', {}, 'BAD_USER_INPUT', 'not a cursor of the events list'],
    [
      'a cursor of another order',
      '{ devices(after: "WyJkZXZpY2VzIE5BTUVfQVNDIiwiYSIsImIiXQ") { nodes { id } } }',
      {},
      'BAD_USER_INPUT',
      'cursor',
    ],
    ['a wrong type', 'query ($i: ID!) { device(id: $i) { id } }', { i: { a: 1 } }, 'BAD_USER_INPUT', '"$i"'],
    ['a missing variable', 'query ($i: ID!) { device(id: $i) { id } }', {}, 'BAD_USER_INPUT', '"$i"'],
    ['an unknown field', '{ devices { nodes { colour } } }', {}, 'BAD_USER_INPUT', '"colour"'],
    ['an unknown enum value', '{ devices(orderBy: SIZE) { nodes { id } } }', {}, 'BAD_USER_INPUT', 'SIZE'],
    ['an invalid date', '{ events(filter: {since: "yesterday"}) { nodes { id } } }', {}, 'BAD_USER_INPUT', 'RFC 3339'],
    [
      'a filter too deep',
      `{ devices(filter: ${deepFilter(6)}) { nodes { id } } }`,
      {},
      'BAD_USER_INPUT',
      'at most 5 levels',
    ],
    [
      'too many ids',
      'query ($f: DeviceFilter) { devices(filter: $f) { nodes { id } } }',
      { f: { ids: Array(1_001).fill('x') } },
      'BAD_USER_INPUT',
      '1000',
    ],
    [
      'NUL in a variable',
      'query ($f: DeviceFilter) { devices(filter: $f) { nodes { id } } }',
      { f: { search: '\0' } },
      'BAD_USER_INPUT',
      'NUL',
    ],
    [
      'NUL in the text',
      String.raw`{ devices(filter: {search: "\u0000"}) { nodes { id } } }`,
      {},
      'BAD_USER_INPUT',
      'NUL',
    ],
    [
      'too deep',
      `{ devices { nodes { ${'calls { nodes { device { '.repeat(5)} id ${'} } } '.repeat(5)} } } }`,
      {},
      'COST_LIMIT',
      'levels',
    ],
    [
      'too costly',
      '{ devices(first: 200) { nodes { calls(first: 200) { nodes { id } } } } }',
      {},
      'COST_LIMIT',
      'points',
    ],
    ['too many aliases', `{ ${aliases} }`, {}, 'COST_LIMIT', '50 aliases'],
    [
      'arguments that are no object',
      callWith,
      { i: { deviceId: 'd', tool: 't', arguments: [1] } },
      'BAD_USER_INPUT',
      'input.arguments',
    ],
    [
      'arguments without a bottom',
      callWith,
      { i: { deviceId: 'd', tool: 't', arguments: { a: bottomless(2_000) } } },
      'BAD_USER_INPUT',
      '32 levels',
    ],
    [
      'an integer that no double holds',
      callWith,
      { i: { deviceId: 'd', tool: 't', arguments: { a: 2 ** 60 } } },
      'BAD_USER_INPUT',
      '2^53',
    ],
    [
      'a job without a tool',
      'mutation { createJob(input: {devices: {all: true}}, idempotencyKey: "k") { job { id } } }',
      {},
      'BAD_USER_INPUT',
      'input.tool',
    ],
  ])('%s: %s', async (_what, query, variables, code, message) => {
    // The second answer may be compiled and the third cached; all are equal.
    for (let time = 0; time < 3; time++) {
      const { errors } = await send(hub, query, variables);
      expect(errors?.map(({ extensions }) => extensions?.code)).toEqual([code]);
      expect(errors?.[0]?.message).toContain(message);
    }
  });

  it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])('no time is too far away for a filter: %s', async (at) => {
    const query = `query ($at: DateTime) {
      events(filter: {since: $at, until: $at}) { nodes { id } } calls(filter: {since: $at, until: $at}) { nodes { id } }
      devices(filter: {lastSeenBefore: $at}) { totalCount } }`;
    expect((await send(hub, query, { at })).errors).toBeUndefined();
  });

  it('unknown ids of every kind find nothing', async () => {
    const uuid = '019a9d00-0000-7000-8000-000000000001';
    for (const id of [uuid, 'unknown', '', "'; DROP TABLE device; --", '💡'.repeat(200)]) {
      const query = `query ($id: ID!) { device(id: $id) { id } call(id: $id) { id } job(id: $id) { id }
        calls(filter: {jobId: $id}) { nodes { id } } }`;
      expect(await send(hub, query, { id })).toEqual({
        data: { device: null, call: null, job: null, calls: { nodes: [] } },
      });
    }
  });
});

describe('after all of this', () => {
  it('the hub answers, and its log has no internal error', async () => {
    expect(await send(hub, '{ viewer { name } }')).toEqual({ data: { viewer: { name: 'admin' } } });
    expect(hub.log()).not.toMatch(/"level":(50|60)/);
  });
});
