/**
 * Redis hangs, and is killed and comes back empty, under a hub of two processes: what needs it says
 * so, nothing is an internal error, and work goes on.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buildSchema, getNamedType, isCompositeType, isObjectType, type GraphQLField } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent } from '../src/agents/agent-client.js';
import { mutations, queries } from '../src/api/access-table.js';
import { ask, send } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { finished, jobOf, online, readJob } from '../src/jobs/job-api.js';

const DEVICES = 3;
const status = 'self.get_device_status';
const schema = buildSchema(readFileSync(new URL('../../libs/api/schema.graphql', import.meta.url), 'utf8'));
const none = '019a9d00-0000-7000-8000-000000000001';
/** A password that a URL cannot hold as it is. */
const password = 'p@ss:word/9f3b';

interface Answer {
  readonly call: { readonly outcome: string } | null;
  readonly userErrors: readonly { readonly code: string; readonly message: string }[];
}

describe.skipIf(!isRedisInstalled())('a hub of several processes while Redis is away', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let api: HubProcess;
  let gateway: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    redis = await startRedis({ args: ['--requirepass', password], credentials: `:${encodeURIComponent(password)}@` });
    const env = {
      FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
      FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
    };
    api = await startHub({ env: { ...env, FLOTILLA_ROLES: 'api,worker' } });
    gateway = await startHub({ env: { ...env, FLOTILLA_ROLES: 'gateway' } });
    fleet = startFleet(gateway, { devices: DEVICES, profile: 'lamp', transport: 'mqtt', seed: 41 });
    await online(api, DEVICES);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(api, '{ devices { nodes { id } } }');
    ids = devices.nodes.map(({ id }) => id);
  });
  afterAll(async () => {
    redis.thaw();
    await fleet.stop();
    for (const hub of [api, gateway]) {
      expect(await hub.stop()).toBe(0);
      expect(hub.log()).not.toMatch(/unhandled/i);
      expect(hub.log()).not.toContain(password);
      expect(hub.log()).not.toContain(encodeURIComponent(password));
      removeDataDir(hub.dataDir);
    }
    await redis.stop();
    await database.close();
  });

  const call = async (deviceId = ids[0] ?? ''): Promise<Answer> => {
    const query =
      'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } userErrors { code message } } }';
    return (await ask<{ callTool: Answer }>(api, query, { input: { deviceId, tool: status, timeoutMs: 5_000 } }))
      .callTool;
  };
  const readiness = async (hub: HubProcess) => {
    const response = await fetch(`${hub.httpUrl}/health/ready`);
    const { problems } = (await response.json()) as { readonly problems: readonly string[] };
    return { code: response.status, problems };
  };
  const isReady = (hub: HubProcess, expected: boolean) =>
    eventually(
      () => readiness(hub),
      ({ code }) => (code === 200) === expected,
    );

  /** Codes of all that an operation answers with, where one of them is not to be said. */
  async function faultOf(
    kind: 'query' | 'mutation',
    field: GraphQLField<unknown, unknown>,
  ): Promise<readonly string[]> {
    const row = (kind === 'query' ? queries : mutations)[field.name];
    const mac = `02:${(randomBytes(5).toString('hex').match(/../g) ?? []).join(':')}`;
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    // Of a device that is there where it needs one: what has to reach it is what needs Redis.
    const input = (row?.input ?? '')
      .replace(/deviceId: "\$id"/, `deviceId: "${ids[1] ?? ''}"`)
      .replaceAll('$mac', mac)
      .replaceAll('$tomorrow', tomorrow)
      .replaceAll('$1', randomUUID())
      .replaceAll('$id', none);
    const type = getNamedType(field.type);
    const isPayload = isObjectType(type) && 'userErrors' in type.getFields();
    const least = isPayload ? '{ userErrors { code message } }' : isCompositeType(type) ? '{ __typename }' : '';
    const { errors } = await send(api, `${kind} { ${field.name}${input} ${least} }`);
    const faults = (errors ?? []).filter(({ extensions }) => extensions?.code !== 'UNAVAILABLE');
    return faults.map(({ message, extensions }) => `${field.name}: ${extensions?.code ?? ''} ${message}`);
  }

  const outages = [
    { how: 'hanging', leave: async () => redis.freeze(), comeBack: async () => redis.thaw() },
    { how: 'gone, and empty when it is back', leave: () => redis.stop(), comeBack: () => redis.restart() },
  ];

  it.each(outages)('($how) says so, and works on when it is back', async ({ leave, comeBack }) => {
    expect(await call()).toMatchObject({ call: { outcome: 'SUCCEEDED' }, userErrors: [] });
    await leave();
    const down = await isReady(api, false);
    expect(down).toEqual({ code: 503, problems: ['Redis does not answer'] });
    await isReady(gateway, false);

    const refused = await call();
    expect(refused.call).toBeNull();
    expect(refused.userErrors).toMatchObject([
      { code: 'UNAVAILABLE', message: expect.stringMatching(/^Redis.*Nothing was sent/) as string },
    ]);
    const { refreshTools } = await ask<{ refreshTools: Answer }>(
      api,
      'mutation ($id: ID!) { refreshTools(deviceId: $id) { userErrors { code message } } }',
      { id: ids[0] },
    );
    expect(refreshTools.userErrors).toMatchObject([{ code: 'UNAVAILABLE' }]);
    const agent = await connectAgent(api, { mode: 'compact' });
    const told = await agent.callTool({ name: 'call_tool', arguments: { device: ids[0], tool: status } });
    expect(JSON.stringify(told)).toMatch(/UNAVAILABLE: Redis/);
    expect(told.isError).toBe(true);
    expect((await agent.listTools()).tools.length).toBeGreaterThan(0);
    await agent.close();
    // A job is taken, waits, and is done when Redis is back; one that does not wait for devices,
    // too.
    const jobs = [
      await jobOf(api, { tool: status, devices: { ids: [ids[0]] }, offline: 'FAIL' }, randomUUID()),
      await jobOf(api, { tool: status, devices: { ids: [ids[2]] } }, randomUUID()),
    ];
    await comeBack();
    for (const id of jobs) expect((await finished(api, id, 60_000)).progress).toMatchObject({ succeeded: 1 });
    await isReady(api, true);
    await isReady(gateway, true);
    const answer = await eventually(call, ({ userErrors }) => userErrors.length === 0, 15_000);
    expect(answer).toMatchObject({ call: { outcome: 'SUCCEEDED' } });
  });

  it('keeps a job that runs, and ends it with all its targets when Redis is back', async () => {
    await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'slow', tool: status, ms: 700 } });
    // What was on its way over Redis at that moment ends by its deadline, and is sent again.
    const input = { tool: status, devices: { ids }, offline: 'FAIL', maxInFlight: 1, callTimeoutMs: 5_000 };
    const id = await jobOf(api, input, randomUUID());
    await eventually(
      () => readJob(api, id),
      ({ progress }) => progress.succeeded > 0,
    );
    redis.freeze();
    await isReady(api, false);
    redis.thaw();
    expect((await finished(api, id, 60_000)).progress).toMatchObject({ total: DEVICES, succeeded: DEVICES });
  });

  it('ends the session of a device that was removed meanwhile, once Redis is back', async () => {
    const sessions = () => metric(gateway, 'flotilla_sessions');
    expect(await sessions()).toBe(DEVICES);
    redis.freeze();
    await isReady(api, false);
    const { removeDevice } = await ask<{ removeDevice: Answer }>(
      api,
      'mutation ($id: ID!) { removeDevice(deviceId: $id) { userErrors { code message } } }',
      { id: ids[2] },
    );
    expect(removeDevice.userErrors).toEqual([]);
    expect(await sessions()).toBe(DEVICES);
    redis.thaw();
    await isReady(api, true);
    // Its credential is void, so it does not come back.
    expect(await eventually(sessions, (count) => count < DEVICES, 30_000)).toBe(DEVICES - 1);
  });

  it('ends no operation with an internal error, and drops none of its messages afterwards', async () => {
    redis.freeze();
    await isReady(api, false);
    const faults: string[] = [];
    for (const [kind, type] of [
      ['query', schema.getQueryType()],
      ['mutation', schema.getMutationType()],
    ] as const) {
      const fields = Object.values(type?.getFields() ?? {});
      faults.push(...(await Promise.all(fields.map((field) => faultOf(kind, field)))).flat());
    }
    expect(faults).toEqual([]);
    redis.thaw();
    await isReady(api, true);
    expect(await metric(gateway, 'flotilla_bus_messages_refused_total', 'wrong_key')).toBe(0);
  });

  it('ends before a supervisor kills it, ten seconds after the signal', async () => {
    const begunAt = performance.now();
    expect(await api.stop()).toBe(0);
    expect(performance.now() - begunAt).toBeLessThan(10_000);
  });
});
