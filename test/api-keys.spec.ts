/** API keys end to end: what each scope opens, what stays closed and hidden without it, and that a key that is revoked is out, live subscriptions included. */
import { createHash, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './src/eventually.js';
import { ask, send, subscriptions } from './src/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from './src/hub-process.js';
import { online } from './src/job-api.js';
import { startFleet, type SimulatedFleet } from './src/simulated-fleet.js';
import { openTestDatabase, type TestDatabase } from './src/test-database.js';

const scopes = [
  'DEVICES_READ',
  'DEVICES_WRITE',
  'TOOLS_CALL',
  'TOOLS_CALL_PRIVILEGED',
  'JOBS_READ',
  'JOBS_WRITE',
  'FIRMWARE_WRITE',
  'EVENTS_READ',
] as const;
type Scope = (typeof scopes)[number];

let database: TestDatabase;
let client: Client;
let hub: HubProcess;
let fleet: SimulatedFleet;
let deviceId: string;

/** A key with these scopes, written as the hub writes its own: there is no mutation for it yet. */
async function makeKey(of: readonly Scope[], expiresAt: Date | null = null): Promise<string> {
  const secret = `spec-${randomUUID()}`;
  await client.query('INSERT INTO api_key (id, name, prefix, secret_hash, scopes, expires_at) VALUES ($1, $2, $3, $4, $5, $6)', [
    randomUUID(),
    of.join(' '),
    secret.slice(0, 8),
    createHash('sha256').update(secret).digest('hex'),
    of,
    expiresAt,
  ]);
  return secret;
}

async function revoke(secret: string): Promise<void> {
  await client.query('UPDATE api_key SET revoked_at = now() WHERE secret_hash = $1', [createHash('sha256').update(secret).digest('hex')]);
}

beforeAll(async () => {
  database = await openTestDatabase();
  hub = await startHub({ env: { DATABASE_URL: database.url, FLOTILLA_ADMIN_KEY: `admin-${randomUUID()}` } });
  client = new Client({ connectionString: database.url });
  await client.connect();
  fleet = startFleet(hub, { devices: 8 });
  await online(hub, 8);
  const query = '{ devices(filter: {hasTool: "self.reboot"}, first: 1) { nodes { id } } }';
  deviceId = (await ask<{ devices: { nodes: { id: string }[] } }>(hub, query)).devices.nodes[0]?.id ?? '';
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  await client.end();
  await database.close();
  removeDataDir(hub.dataDir);
});

describe('a key with one scope', () => {
  const operations: Readonly<Record<Scope, readonly string[]>> = {
    DEVICES_READ: [
      '{ devices { nodes { id } } }',
      '{ device(id: "x") { id } }',
      '{ tools { nodes { name } } }',
      '{ toolPolicies { pattern } }',
      '{ calls { nodes { id } } }',
      '{ call(id: "x") { id } }',
    ],
    DEVICES_WRITE: [
      'mutation { updateDevice(input: {deviceId: "x", name: "x"}) { userErrors { code } } }',
      'mutation { tagDevices(input: {filter: {ids: ["x"]}, add: ["x"]}) { changedCount } }',
      'mutation { refreshTools(deviceId: "x") { userErrors { code } } }',
    ],
    TOOLS_CALL: ['mutation { callTool(input: {deviceId: "x", tool: "x"}) { userErrors { code } } }'],
    TOOLS_CALL_PRIVILEGED: [],
    JOBS_READ: ['{ jobs { nodes { id } } }', '{ job(id: "x") { id } }'],
    JOBS_WRITE: [
      'mutation { createJob(input: {tool: "x", devices: {}}, idempotencyKey: "x") { userErrors { code } } }',
      'mutation { pauseJob(id: "x") { userErrors { code } } }',
      'mutation { resumeJob(id: "x") { userErrors { code } } }',
      'mutation { cancelJob(id: "x") { userErrors { code } } }',
    ],
    FIRMWARE_WRITE: [],
    EVENTS_READ: ['{ events { nodes { id } } }'],
  };

  it.each(scopes)('%s opens what is its own and nothing else', async (scope) => {
    const key = await makeKey([scope]);
    expect((await send(hub, '{ viewer { name scopes } }', {}, key)).data).toEqual({ viewer: { name: scope, scopes: [scope] } });
    for (const [needed, queries] of Object.entries(operations)) {
      for (const query of queries) {
        const { errors } = await send(hub, query, {}, key);
        const codes = errors?.map(({ extensions }) => extensions?.code);
        expect(codes, query).toEqual(needed === scope ? undefined : ['FORBIDDEN']);
      }
    }
  });
});

describe('user-only tools', () => {
  const reboot =
    'mutation ($id: ID!) { callTool(input: {deviceId: $id, tool: "self.reboot"}) { call { outcome error { code } } userErrors { code } } }';

  it('are hidden from a key without the scope, and calling one is refused before the wire', async () => {
    const key = await makeKey(['DEVICES_READ', 'TOOLS_CALL', 'JOBS_READ', 'JOBS_WRITE']);
    const query = 'query ($id: ID!) { device(id: $id) { tools { name userOnly } } tools(first: 200) { nodes { userOnly } } }';
    const { data } = await send(hub, query, { id: deviceId }, key);
    expect(JSON.stringify(data)).not.toContain('"userOnly":true');
    expect(JSON.stringify(data)).toContain('"userOnly":false');
    expect((await send(hub, reboot, { id: deviceId }, key)).data).toEqual({
      callTool: { call: { outcome: 'REJECTED', error: { code: 'TOOL_FORBIDDEN' } }, userErrors: [{ code: 'TOOL_FORBIDDEN' }] },
    });
    const job =
      'mutation { createJob(input: {tool: "self.reboot", devices: {all: true}}, idempotencyKey: "r") { job { id } userErrors { code } } }';
    expect((await send(hub, job, {}, key)).data).toEqual({ createJob: { job: null, userErrors: [{ code: 'TOOL_FORBIDDEN' }] } });
    expect((await fleet.counts()).tools['self.reboot'] ?? 0).toBe(0);
  });

  it('are shown to a key with it, and run', async () => {
    const key = await makeKey(['DEVICES_READ', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
    const { data } = await send(
      hub,
      'query ($id: ID!) { device(id: $id) { tools(names: ["self.reboot"]) { userOnly } } }',
      { id: deviceId },
      key,
    );
    expect(data).toEqual({ device: { tools: [{ userOnly: true }] } });
    expect((await send(hub, reboot, { id: deviceId }, key)).data).toMatchObject({ callTool: { userErrors: [] } });
    await eventually(
      async () => (await fleet.counts()).tools['self.reboot'] ?? 0,
      (count) => count === 1,
    );
  });
});

describe('a key that ends', () => {
  const codeOf = async (key: string) => (await send(hub, '{ viewer { name } }', {}, key)).errors?.[0]?.extensions?.code;

  it('is out at its time, and within seconds of being revoked, with its subscriptions', async () => {
    const key = await makeKey(['DEVICES_READ', 'EVENTS_READ']);
    const client = subscriptions(hub, key);
    const live = client.iterate({ query: 'subscription { eventAdded(filter: {types: ["nothing"]}) { cursor } }' });
    const ended = live.next().then(
      () => 'a value',
      (reason: unknown) => reason,
    );
    expect(await codeOf(key)).toBeUndefined();
    await revoke(key);
    await eventually(
      () => codeOf(key),
      (code) => code === 'UNAUTHENTICATED',
      10_000,
    );
    expect(await ended).toMatchObject({ code: 4403 });
    await client.dispose();
    expect(await codeOf(await makeKey(['DEVICES_READ'], new Date(Date.now() - 1_000)))).toBe('UNAUTHENTICATED');
  });
});
