/**
 * Runs every operation with every kind of key: each gets exactly the expected answer, and no error
 * shows internals of the hub.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNamedType,
  isCompositeType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fieldsBehind, mutations, queries, subscribed, type AccessRow } from '../src/api/access-table.js';
import { makeKey, revokeKey, scopes, type Scope } from '../src/api/api-keys.js';
import { eventually } from '../src/eventually.js';
import { inLanes } from '../src/in-lanes.js';
import { ask, send, subscriptions, type GraphqlAnswer } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online } from '../src/jobs/job-api.js';
import { hostileRequests } from '../src/api/hostile-requests.js';
import { leakIn } from '../src/api/leaks.js';
import { notifyFrom, startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

/** Requests under way at a time. */
const LANES = 25;
/** The address of the subscriptions. Each address may fail 300 times a minute. */
const OTHER_ADDRESS = '192.0.2.7';
/** A hub has at most 200 rules. */
const RULE_EVERY_TURNS = 10;
/** How long the key lives that is to expire, ms. */
const SHORT_LIFE_MS = 5_000;

const schema = buildSchema(readFileSync(new URL('../../libs/api/schema.graphql', import.meta.url), 'utf8'));

interface Asker {
  readonly name: string;
  /** Null sends none. */
  readonly key: string | null;
  expected(row: AccessRow): string;
}

let hub: HubProcess;
let fleet: SimulatedFleet;
let deviceId: string;
/** A device that went offline, about which alerts fire. */
let lostId: string;
let jobId: string;
let askers: readonly Asker[];
/** The messages of all errors. */
const messages: string[] = [];

/** An id of the usual form that no object has. */
const unknownId = '019a9d00-0000-7000-8000-000000000001';

beforeAll(async () => {
  hub = await startHub({ env: { FLOTILLA_TRUSTED_PROXIES: '127.0.0.1' } });
  fleet = startFleet(hub, { devices: 1, transport: 'mqtt' });
  const soon = new Date(Date.now() + SHORT_LIFE_MS).toISOString();
  const expiring = await makeKey(hub, scopes, { expiresAt: soon });
  const revoked = await makeKey(hub, scopes);
  await revokeKey(hub, revoked.id);
  await online(hub, 1);
  const lost = startFleet(hub, { devices: 1, transport: 'mqtt', seed: 2 });
  await online(hub, 2);
  await lost.stop();
  await online(hub, 1);
  const idWith = async (presence: string) =>
    (
      await ask<{ devices: { nodes: [{ id: string }] } }>(
        hub,
        `{ devices(filter: {presence: ${presence}}) { nodes { id } } }`,
      )
    ).devices.nodes[0].id;
  deviceId = await idWith('ONLINE');
  lostId = await idWith('OFFLINE');
  await ask(hub, 'mutation ($ids: [ID!]) { tagDevices(input: {filter: {ids: $ids}, add: ["lab"]}) { changedCount } }', {
    ids: [deviceId, lostId],
  });
  jobId = await jobOf(hub, { tool: 'self.get_device_status', devices: { ids: [deviceId] } }, randomUUID());
  await finished(hub, jobId);
  const narrowed = await makeKey(hub, scopes, { devices: { tags: ['lab'] } });
  const single = async (scope: Scope): Promise<Asker> => ({
    name: scope,
    key: (await makeKey(hub, [scope])).secret,
    expected: ({ needs, also, allowed }) =>
      scope === 'ADMIN' || needs === 'ANY_KEY' || (needs === scope && also === undefined) ? allowed : 'FORBIDDEN',
  });
  const unknown = { expected: () => 'UNAUTHENTICATED' };
  askers = [
    { name: 'no key', key: null, ...unknown },
    { name: 'an unknown key', key: 'flotilla-none', ...unknown },
    { name: 'an expired key', key: expiring.secret, ...unknown },
    { name: 'a revoked key', key: revoked.secret, ...unknown },
    ...(await Promise.all([...scopes, 'ADMIN' as const].map(single))),
    {
      name: 'a narrowed key',
      key: narrowed.secret,
      expected: ({ needs, allowed, narrowed: answer }) => (needs === 'ADMIN' ? 'FORBIDDEN' : (answer ?? allowed)),
    },
  ];
  await eventually(
    () => Promise.resolve(Date.now()),
    (now) => now > Date.parse(soon),
  );
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|failed inside/i);
  removeDataDir(hub.dataDir);
});

const fieldsOf = (type: GraphQLObjectType | null | undefined) => Object.values(type?.getFields() ?? {});

/** The operation with its arguments filled in, and the least to be shown of it. */
function textOf(field: GraphQLField<unknown, unknown>, { input }: AccessRow): string {
  const mac = `02:${(randomBytes(5).toString('hex').match(/../g) ?? []).join(':')}`;
  return `${field.name}${filled(input).replaceAll('$mac', mac)} ${leastOf(field)}`;
}

function filled(text: string): string {
  const ids = text.replaceAll('$id', unknownId).replaceAll('$device', deviceId).replaceAll('$job', jobId);
  return ids.replaceAll('$tomorrow', new Date(Date.now() + 86_400_000).toISOString()).replaceAll('$1', randomUUID());
}

function leastOf(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  if (!isCompositeType(type)) return '';
  const names = isObjectType(type) ? new Set(Object.keys(type.getFields())) : new Set<string>();
  if (names.has('userErrors')) return '{ userErrors { code message } }';
  return names.has('nodes') ? '{ nodes { __typename } }' : '{ __typename }';
}

/** Sums up an answer: the codes of its errors or refusals, or whether it has data. */
function outcomeOf(name: string, { data, errors }: GraphqlAnswer): string {
  messages.push(...(errors ?? []).map(({ message }) => message));
  if (errors) return errors.map(({ extensions }) => extensions?.code).join();
  const value = data?.[name] as { userErrors?: readonly { code: string; message: string }[] } | null | undefined;
  if (value === null || value === undefined) return 'null';
  messages.push(...(value.userErrors ?? []).map(({ message }) => message));
  return value.userErrors?.length ? `userErrors ${value.userErrors.map(({ code }) => code).join()}` : 'data';
}

it('knows what to expect of every operation that is served, and of no other', () => {
  for (const [type, table] of [
    [schema.getQueryType(), queries],
    [schema.getMutationType(), mutations],
    [schema.getSubscriptionType(), subscribed],
  ] as const) {
    expect(Object.keys(table).sort()).toEqual(
      fieldsOf(type)
        .map(({ name }) => name)
        .sort(),
    );
  }
});

describe.each([
  ['query', queries, () => fieldsOf(schema.getQueryType())],
  ['mutation', mutations, () => fieldsOf(schema.getMutationType())],
] as const)('each %s', (kind, table, fields) => {
  it('answers each kind of key as it should', async () => {
    const wrong: string[] = [];
    const all = fields().flatMap((field) => askers.map((asker) => ({ field, asker })));
    await inLanes(LANES, all, async ({ field, asker }) => {
      const row = table[field.name];
      if (!row) return;
      const from = `192.0.2.${10 + askers.indexOf(asker)}`;
      const answer = await send(hub, `${kind} { ${textOf(field, row)} }`, {}, asker.key, from);
      const outcome = outcomeOf(field.name, answer);
      const expected = asker.expected(row);
      if (outcome !== expected) wrong.push(`${field.name} by ${asker.name}: ${outcome} instead of ${expected}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('each subscription', () => {
  /** The first thing that is heard. */
  async function firstOf(field: GraphQLField<unknown, unknown>, row: AccessRow, key: string | null): Promise<string> {
    const client = subscriptions(hub, key ?? '', OTHER_ADDRESS);
    try {
      const values = client.iterate<Record<string, unknown>>({ query: `subscription { ${textOf(field, row)} }` });
      const { value } = (await values.next()) as { value: GraphqlAnswer };
      return outcomeOf(field.name, value);
    } catch (error) {
      return typeof error === 'object' && error !== null && 'code' in error && error.code === 4403
        ? 'UNAUTHENTICATED'
        : String(error);
    } finally {
      await client.dispose();
    }
  }

  it('answers each kind of key as it should', async () => {
    const wrong: string[] = [];
    const rename = 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { code } } }';
    const addRule = 'mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { userErrors { code } } }';
    let turn = 0;
    const changes = setInterval(() => {
      // Each rule makes one alert, some seconds later.
      if (turn++ % RULE_EVERY_TURNS === 0)
        void send(hub, addRule, {
          input: {
            name: `of turn ${turn}`,
            kind: 'DEVICE_OFFLINE',
            devices: { ids: [lostId] },
            forSeconds: 0,
            channelIds: [],
          },
        });
      notifyFrom(fleet, deviceId);
      void send(hub, rename, { input: { deviceId, name: `at ${Date.now()}` } });
    }, 200);
    const all = fieldsOf(schema.getSubscriptionType()).flatMap((field) => askers.map((asker) => ({ field, asker })));
    await inLanes(LANES, all, async ({ field, asker }) => {
      const row = subscribed[field.name];
      if (!row) return;
      const outcome = await firstOf(field, row, asker.key);
      const expected = asker.expected(row);
      if (outcome !== expected) wrong.push(`${field.name} by ${asker.name}: ${outcome} instead of ${expected}`);
    }).finally(() => clearInterval(changes));
    expect(wrong).toEqual([]);
  });
});

describe('a field behind another scope', () => {
  it.each(fieldsBehind)('%s: %s is not enough without %s', async (text, has, needs) => {
    const own = [has].flat();
    const [one, both] = await Promise.all([
      makeKey(hub, own),
      makeKey(hub, [...new Set([...own, needs, 'JOBS_READ' as const])]),
    ]);
    const refused = await send(hub, filled(text), {}, one.secret);
    expect(refused.errors?.map(({ extensions }) => extensions?.code)).toEqual(['FORBIDDEN']);
    messages.push(...(refused.errors ?? []).map(({ message }) => message));
    expect((await send(hub, filled(text), {}, both.secret)).errors).toBeUndefined();
  });
});

describe('what went wrong', () => {
  it.each(hostileRequests)('is never the hub’s own fault: %s', async (_what, query, variables) => {
    const answer = await send(hub, query, variables);
    const codes = answer.errors?.map(({ extensions }) => extensions?.code) ?? [];
    for (const code of codes) expect(['BAD_USER_INPUT', 'COST_LIMIT', 'NOT_FOUND']).toContain(code);
    // What the caller sent may come back; nothing else of the kind may.
    const own = [query, ...Object.values(variables).map(String)];
    for (const text of JSON.stringify(answer).match(/(?<="message":)"(?:[^"\\]|\\.)*"/g) ?? []) {
      const message = own.reduce((left, sent) => left.replaceAll(sent, ''), JSON.parse(text) as string);
      messages.push(message);
    }
  });

  it('shows no SQL, no stack and no path', () => {
    expect(messages.length).toBeGreaterThan(300);
    expect([...new Set(messages)].filter((message) => leakIn(message) !== undefined)).toEqual([]);
    for (const message of messages)
      for (const folder of [process.cwd(), hub.dataDir]) expect(message).not.toContain(folder);
  });

  it.each([
    'insert or update on table "job" violates foreign key constraint "job_fkey"',
    'SELECT id FROM device WHERE id = $1',
    'invalid input syntax for type uuid: "x"',
    'Error: no\n    at Object.find (/srv/hub/dist/find.js:3:1)',
    'ENOENT: no such file or directory, open "/var/lib/flotilla/x"',
  ])('would be noticed: %s', (message) => expect(leakIn(message)).toBeDefined());
});
