/**
 * Mistakes of integrators: each answer names the input and the rule with the right code, nothing is
 * sent or recorded, and the hub keeps working.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, send, type GraphqlAnswer } from '../src/api/graphql-client.js';
import { rawRequest } from '../src/api/raw-request.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const SET_VOLUME = 'self.audio_speaker.set_volume';

/** The arguments after the first. */
type Tail<Run extends (...args: never[]) => unknown> = Parameters<Run> extends [unknown, ...infer Rest] ? Rest : never;

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly path: readonly string[];
}

let hub: HubProcess;
let fleet: SimulatedFleet;
let deviceId: string;

beforeAll(async () => {
  hub = await startHub();
  fleet = startFleet(hub, { devices: 3 });
  await online(hub, 3);
  const query = `{ devices(filter: {hasTool: "${SET_VOLUME}"}, first: 1) { nodes { id } } }`;
  deviceId = (await ask<{ devices: { nodes: { id: string }[] } }>(hub, query)).devices.nodes[0]?.id ?? '';
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

/** What the devices ran and the hub has on record. */
async function traces(): Promise<unknown> {
  const { calls, jobs } = await ask<Record<'calls' | 'jobs', { nodes: unknown[] }>>(
    hub,
    '{ calls(first: 200) { nodes { id } } jobs(first: 200) { nodes { id } } }',
  );
  return { ran: (await fleet.counts()).tools, calls: calls.nodes.length, jobs: jobs.nodes.length };
}

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

describe('an act that is refused', () => {
  let before: unknown;
  beforeAll(async () => (before = await traces()));
  afterEach(async () => expect(await traces()).toEqual(before));

  async function refusalsOf(
    mutation: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<readonly Refusal[]> {
    const answer = await ask<Record<string, { userErrors: readonly Refusal[] }>>(hub, mutation, variables);
    return Object.values(answer)[0]?.userErrors ?? [];
  }

  const CALL =
    'mutation ($input: CallToolInput!) { callTool(input: $input) { call { id } userErrors { code message path } } }';
  it.each<[string, Readonly<Record<string, unknown>>, string, string, string]>([
    ['too short a time', { timeoutMs: 999 }, 'INVALID', 'input.timeoutMs', '1000 to 300000'],
    ['too long a time', { timeoutMs: 300_001 }, 'INVALID', 'input.timeoutMs', '1000 to 300000'],
    ['an empty key', { idempotencyKey: '' }, 'INVALID', 'input.idempotencyKey', '1 to 255 characters'],
    ['too long a key', { idempotencyKey: 'k'.repeat(256) }, 'INVALID', 'input.idempotencyKey', '1 to 255 characters'],
    ['no tool', { tool: '' }, 'INVALID', 'input.tool', '1 to 200 characters'],
    ['large arguments', { arguments: { text: 'x'.repeat(17_000) } }, 'REQUEST_TOO_LARGE', 'input.arguments', 'bytes'],
    ['an unknown device', { deviceId: 'unknown' }, 'NOT_FOUND', 'input.deviceId', '"unknown"'],
  ])('callTool with %s', async (_what, change, code, path, message) => {
    const input = { deviceId, tool: SET_VOLUME, arguments: { volume: 3 }, ...change };
    const [refusal] = await refusalsOf(CALL, { input });
    expect({ code: refusal?.code, path: refusal?.path.join('.') }).toEqual({ code, path });
    expect(refusal?.message).toContain(message);
  });

  const JOB = `mutation ($input: CreateJobInput!, $key: String!) { createJob(input: $input, idempotencyKey: $key) {
    job { id } userErrors { code message path } } }`;
  it.each<[string, Readonly<Record<string, unknown>>, string, string]>([
    ['nothing in flight', { maxInFlight: 0 }, 'INVALID', 'input.maxInFlight'],
    ['too much in flight', { maxInFlight: 1_000_000 }, 'LIMIT_EXCEEDED', 'input.maxInFlight'],
    ['an end in the past', { expiresInSeconds: -1 }, 'INVALID', 'input.expiresInSeconds'],
    ['an end too far away', { expiresInSeconds: 31 * 86_400 }, 'LIMIT_EXCEEDED', 'input.expiresInSeconds'],
    ['too short a time', { callTimeoutMs: 1 }, 'INVALID', 'input.callTimeoutMs'],
    ['too long a name', { name: 'n'.repeat(201) }, 'LIMIT_EXCEEDED', 'input.name'],
    ['large arguments', { arguments: { text: 'x'.repeat(17_000) } }, 'REQUEST_TOO_LARGE', 'input.arguments'],
    ['a filter that says nothing', { devices: {} }, 'INVALID', 'input.devices'],
    ['a filter that says nothing inside', { devices: { any: [{}] } }, 'INVALID', 'input.devices.any.0'],
    [
      'a URL that the operator does not allow',
      { tool: 'self.upgrade_firmware', arguments: { url: 'http://evil.example/x.bin' } },
      'URL_FORBIDDEN',
      'input.arguments',
    ],
  ])('createJob with %s', async (_what, change, code, path) => {
    const input = { tool: SET_VOLUME, arguments: { volume: 3 }, devices: { all: true }, ...change };
    const [refusal] = await refusalsOf(JOB, { input, key: 'refused' });
    expect({ code: refusal?.code, path: refusal?.path.join('.') }).toEqual({ code, path });
    expect(refusal?.message).toBeTruthy();
  });

  it.each(['', 'k'.repeat(256)])('createJob with the key "%s"', async (key) => {
    const input = { tool: SET_VOLUME, arguments: { volume: 3 }, devices: { all: true } };
    expect(await refusalsOf(JOB, { input, key })).toMatchObject([{ path: ['idempotencyKey'] }]);
  });

  it.each(['pauseJob', 'resumeJob', 'cancelJob'])('%s of no job', async (act) => {
    for (const id of ['nonsense', '019a9d00-0000-7000-8000-000000000001']) {
      const mutation = `mutation ($id: ID!) { ${act}(id: $id) { job { id } userErrors { code message path } } }`;
      expect(await refusalsOf(mutation, { id })).toMatchObject([{ code: 'NOT_FOUND', path: ['id'] }]);
    }
  });

  it.each<[string, Readonly<Record<string, unknown>>, string, string]>([
    ['a filter that says nothing', { filter: {}, add: ['x'] }, 'INVALID', 'input.filter'],
    ['no tag at all', { filter: { all: true } }, 'INVALID', 'input'],
    [
      'a tag to add and to remove',
      { filter: { all: true }, add: ['x', 'y'], remove: ['y'] },
      'INVALID',
      'input.remove',
    ],
    ['an invalid tag', { filter: { all: true }, add: ['two words'] }, 'INVALID', 'input.add'],
    [
      'too many tags',
      { filter: { all: true }, add: Array.from({ length: 51 }, (_, index) => `t${index}`) },
      'LIMIT_EXCEEDED',
      'input.add',
    ],
  ])('tagDevices with %s', async (_what, input, code, path) => {
    const mutation = `mutation ($input: TagDevicesInput!) { tagDevices(input: $input) {
        changedCount userErrors { code message path } } }`;
    const [refusal] = await refusalsOf(mutation, { input });
    expect({ code: refusal?.code, path: refusal?.path.join('.') }).toEqual({ code, path });
  });

  it('updateDevice and refreshTools of no device', async () => {
    const rename = `mutation { updateDevice(input: {deviceId: "unknown", name: "x"}) {
        device { id } userErrors { code path } } }`;
    expect(await refusalsOf(rename, {})).toMatchObject([{ code: 'NOT_FOUND', path: ['input', 'deviceId'] }]);
    const refresh = 'mutation { refreshTools(deviceId: "unknown") { device { id } userErrors { code path } } }';
    expect(await refusalsOf(refresh, {})).toMatchObject([{ code: 'NOT_FOUND', path: ['deviceId'] }]);
  });
});

describe('arguments that another parser could read differently', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a member of the prototype', { volume: 3, constructor: { a: 1 } }],
    ['an integer past 32 bits', { volume: 4_294_967_299 }],
    ['a fraction for an integer', { volume: 3.5 }],
  ])('%s is on record as REJECTED and never sent', async (_what, args) => {
    const ran = (await fleet.counts()).tools[SET_VOLUME] ?? 0;
    const query = `mutation ($input: CallToolInput!) { callTool(input: $input) {
        call { outcome error { code } } userErrors { code } } }`;
    const answer = await ask<{ callTool: unknown }>(hub, query, {
      input: { deviceId, tool: SET_VOLUME, arguments: args },
    });
    expect(answer.callTool).toEqual({
      call: { outcome: 'REJECTED', error: { code: 'ARGUMENTS_INVALID' } },
      userErrors: [{ code: 'ARGUMENTS_INVALID' }],
    });
    expect((await fleet.counts()).tools[SET_VOLUME] ?? 0).toBe(ran);
  });

  it('a member named __proto__ written into the query is a name like any other', async () => {
    const input = `{deviceId: "${deviceId}", tool: "${SET_VOLUME}", arguments: {volume: 3, __proto__: {x: 1}}}`;
    const query = `mutation { callTool(input: ${input}) { call { outcome error { message } } } }`;
    const { callTool } = await ask<{ callTool: { call: { outcome: string; error: { message: string } } } }>(hub, query);
    expect(callTool.call).toMatchObject({
      outcome: 'REJECTED',
      error: { message: expect.stringContaining('__proto__') },
    });
  });
});

describe('after all of this', () => {
  it('the hub answers, and its log has no internal error', async () => {
    expect(await send(hub, '{ viewer { name } }')).toEqual({ data: { viewer: { name: 'admin' } } });
    expect(hub.log()).not.toMatch(/"level":(50|60)/);
  });
});
