/**
 * Mutations that are refused: each names the input and the rule with the right code, and nothing is
 * sent or recorded.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, send } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const SET_VOLUME = 'self.audio_speaker.set_volume';

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
