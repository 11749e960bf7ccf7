/**
 * API keys end to end: what each scope permits and hides, and that a revoked key stops working,
 * with its live subscriptions.
 */
import { createHash, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopes, type Scope } from '../src/api/api-keys.js';
import { eventually } from '../src/eventually.js';
import { ask, send, subscriptions } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';

let database: TestDatabase;
let client: Client;
let hub: HubProcess;
let fleet: SimulatedFleet;
let deviceId: string;

interface Made {
  readonly apiKey: { readonly id: string; readonly prefix: string } | null;
  readonly secret: string | null;
  readonly userErrors: readonly { readonly code: string; readonly path: readonly string[] }[];
}

async function create(input: Readonly<Record<string, unknown>>): Promise<Made> {
  const query = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) {
    apiKey { id name prefix scopes devices createdBy expiresAt lastUsedAt revokedAt }
    secret userErrors { code path } } }`;
  return (await ask<{ createApiKey: Made }>(hub, query, { input })).createApiKey;
}

async function makeKey(of: readonly Scope[]): Promise<string> {
  return (await create({ name: of.join(' '), scopes: of })).secret ?? '';
}

/** As another process, whose news got lost. */
async function revoke(secret: string): Promise<void> {
  await client.query('UPDATE api_key SET revoked_at = now() WHERE secret_hash = $1', [
    createHash('sha256').update(secret).digest('hex'),
  ]);
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
  const operations: Readonly<Record<(typeof scopes)[number], readonly string[]>> = {
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
      'mutation { pauseJob(id: "x") { userErrors { code } } }',
      'mutation { resumeJob(id: "x") { userErrors { code } } }',
      'mutation { cancelJob(id: "x") { userErrors { code } } }',
    ],
    FIRMWARE_WRITE: [],
    EVENTS_READ: ['{ events { nodes { id } } }'],
  };

  it.each(scopes)('%s opens what is its own and nothing else', async (scope) => {
    const key = await makeKey([scope]);
    expect((await send(hub, '{ viewer { name scopes } }', {}, key)).data).toEqual({
      viewer: { name: scope, scopes: [scope] },
    });
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
  const reboot = `mutation ($id: ID!) { callTool(input: {deviceId: $id, tool: "self.reboot"}) {
      call { outcome error { code } } userErrors { code } } }`;

  it('are hidden from a key without the scope, and calling one is refused before the wire', async () => {
    const key = await makeKey(['DEVICES_READ', 'TOOLS_CALL', 'JOBS_READ', 'JOBS_WRITE']);
    const query =
      'query ($id: ID!) { device(id: $id) { tools { name userOnly } } tools(first: 200) { nodes { userOnly } } }';
    const { data } = await send(hub, query, { id: deviceId }, key);
    expect(JSON.stringify(data)).not.toContain('"userOnly":true');
    expect(JSON.stringify(data)).toContain('"userOnly":false');
    expect((await send(hub, reboot, { id: deviceId }, key)).data).toEqual({
      callTool: {
        call: { outcome: 'REJECTED', error: { code: 'TOOL_FORBIDDEN' } },
        userErrors: [{ code: 'TOOL_FORBIDDEN' }],
      },
    });
    const job = `mutation { createJob(input: {tool: "self.reboot", devices: {all: true}}, idempotencyKey: "r") {
        job { id } userErrors { code } } }`;
    expect((await send(hub, job, {}, key)).data).toEqual({
      createJob: { job: null, userErrors: [{ code: 'TOOL_FORBIDDEN' }] },
    });
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

  it('is out within seconds of being revoked elsewhere, with its subscriptions', async () => {
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
  });

  it('is out at its time', async () => {
    const { secret } = await create({
      name: 'short',
      scopes: ['DEVICES_READ'],
      expiresAt: new Date(Date.now() + 1_500).toISOString(),
    });
    expect(await codeOf(secret ?? '')).toBeUndefined();
    await eventually(
      () => codeOf(secret ?? ''),
      (code) => code === 'UNAUTHENTICATED',
    );
  });

  it('is out at once where it is revoked, with its subscriptions', async () => {
    const { apiKey, secret } = await create({ name: 'to go', scopes: ['EVENTS_READ'] });
    const client = subscriptions(hub, secret ?? '');
    const live = client.iterate({ query: 'subscription { eventAdded(filter: {types: ["nothing"]}) { cursor } }' });
    const ended = live.next().then(
      () => 'a value',
      (reason: unknown) => reason,
    );
    expect(await codeOf(secret ?? '')).toBeUndefined();
    const query = 'mutation ($id: ID!) { revokeApiKey(id: $id) { apiKey { id revokedAt } userErrors { code } } }';
    const revoked = await ask<{ revokeApiKey: object }>(hub, query, { id: apiKey?.id });
    expect(revoked.revokeApiKey).toMatchObject({
      apiKey: { id: apiKey?.id, revokedAt: expect.any(String) },
      userErrors: [],
    });
    expect(await codeOf(secret ?? '')).toBe('UNAUTHENTICATED');
    expect(await ended).toMatchObject({ code: 4403 });
    expect(await ask(hub, query, { id: apiKey?.id })).toEqual(revoked);
    await client.dispose();
  });
});

describe('the keys of a hub', () => {
  const all = async () => {
    const query = '{ apiKeys { id name prefix scopes devices createdBy expiresAt lastUsedAt revokedAt } }';
    return (await ask<{ apiKeys: readonly Readonly<Record<string, unknown>>[] }>(hub, query)).apiKeys;
  };

  it('are listed without their secrets, which PostgreSQL has only as hashes, and are on the audit trail', async () => {
    const devices = { any: [{ tags: ['lab'] }, { ids: [deviceId] }], not: { presence: 'OFFLINE' } };
    const { apiKey, secret } = await create({ name: 'integration', scopes: ['DEVICES_READ', 'DEVICES_READ'], devices });
    expect(secret).toMatch(/^flt_[\w-]{43}$/);
    const shown = {
      id: apiKey?.id,
      name: 'integration',
      prefix: secret?.slice(0, 8),
      scopes: ['DEVICES_READ'],
      devices,
      createdBy: 'admin',
    };
    expect((await all())[0]).toMatchObject({ ...shown, expiresAt: null, lastUsedAt: null, revokedAt: null });
    await send(hub, '{ viewer { name } }', {}, secret ?? '');
    await eventually(all, ([key]) => key?.['lastUsedAt'] !== null);
    const { rows } = await client.query<object>(
      'SELECT k::text AS row FROM api_key k UNION ALL SELECT a::text FROM audit_entry a',
    );
    expect(JSON.stringify(rows)).not.toContain(secret);
    const trail =
      'query ($subject: String) { auditEntries(filter: {subject: $subject}) { nodes { action actor data } } }';
    expect(await ask(hub, trail, { subject: `key:${apiKey?.id}` })).toEqual({
      auditEntries: {
        nodes: [
          { action: 'key.created', actor: 'admin', data: expect.objectContaining({ name: 'integration', devices }) },
        ],
      },
    });
  });

  it.each([
    ['a name of two lines', { name: 'a\nb' }, 'INVALID', ['input', 'name']],
    ['no scope', { scopes: [] }, 'INVALID', ['input', 'scopes']],
    ['a time that is over', { expiresAt: '2020-01-01T00:00:00Z' }, 'INVALID', ['input', 'expiresAt']],
    ['a filter that says nothing', { devices: {} }, 'INVALID', ['input', 'devices']],
    ['a group that is not there', { devices: { groupId: randomUUID() } }, 'NOT_FOUND', ['input', 'devices']],
  ])('are not made with %s', async (_what, change, code, path) => {
    const before = (await all()).length;
    const made = await create({ name: 'never', scopes: ['DEVICES_READ'], ...change });
    expect(made).toEqual({ apiKey: null, secret: null, userErrors: [{ code, path }] });
    expect((await all()).length).toBe(before);
  });

  it('keep the last one that can make others', async () => {
    // A person who is ADMIN could make keys, too.
    await client.query('UPDATE user_account SET disabled_at = now()');
    const admin = (await all()).find(({ name }) => name === 'admin')?.['id'];
    const query = 'mutation ($id: ID!) { revokeApiKey(id: $id) { apiKey { id } userErrors { code } } }';
    expect(await ask(hub, query, { id: admin })).toEqual({
      revokeApiKey: { apiKey: null, userErrors: [{ code: 'CONFLICT' }] },
    });
    expect(await ask(hub, query, { id: 'unknown' })).toEqual({
      revokeApiKey: { apiKey: null, userErrors: [{ code: 'NOT_FOUND' }] },
    });
  });
});
