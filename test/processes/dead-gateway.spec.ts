/**
 * kill -9 of a process while calls are under way through it: each of them ends soon after the
 * process's lease, and not at its own deadline.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, subscriptions } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { finished, jobOf, online, targetsOf, type TargetNode } from '../src/jobs/job-api.js';

/** What docs/operations.md promises, ms from the end of the lease. */
const SETTLED_WITHIN_MS = 5_000;
/** The deadlines of all calls here: far beyond the lease of 15 s. */
const TIMEOUT_MS = 120_000;
const lamp = 'self.lamp.turn_on';
const status = 'self.get_device_status';

interface Call {
  readonly id: string;
  readonly outcome: string;
  readonly error: { readonly code: string } | null;
}

/** An answer and the time when it came. */
interface Timed<Answer> {
  readonly answer: Answer;
  readonly at: number;
}

describe.skipIf(!isRedisInstalled())('a process that is killed with calls in its hands', () => {
  const secrets = {
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
  };
  let database: TestDatabase;
  let redis: RedisServer;
  let sql: Client;
  const processes = new Set<HubProcess>();
  let fleet: SimulatedFleet | undefined;

  const start = async (roles: string, env: Readonly<Record<string, string>> = {}) => {
    const shared = { ...secrets, DATABASE_URL: database.url, REDIS_URL: redis.url, FLOTILLA_ROLES: roles };
    const hub = await startHub({ env: { ...shared, ...env } });
    processes.add(hub);
    return hub;
  };
  /** Resolves to the end of its lease, ms since the Unix epoch. */
  const kill = async (hub: HubProcess): Promise<number> => {
    processes.delete(hub);
    await hub.kill();
    removeDataDir(hub.dataDir);
    const { rows } = await sql.query<{ until: Date }>('SELECT lease_until AS until FROM hub_process WHERE pid = $1', [
      hub.pid,
    ]);
    const until = rows[0]?.until.getTime() ?? 0;
    expect(until).toBeGreaterThan(Date.now());
    return until;
  };
  const callTool = (api: HubProcess, input: Readonly<Record<string, unknown>>): Promise<Call> => {
    const query = `mutation ($input: CallToolInput!) {
  callTool(input: $input) { call { id outcome error { code } } userErrors { code } }
}`;
    return ask<{ callTool: { call: Call } }>(api, query, { input: { timeoutMs: TIMEOUT_MS, ...input } }).then(
      (data) => data.callTool.call,
    );
  };
  const recordOf = async (api: HubProcess, id: string): Promise<Call | null> =>
    (await ask<{ call: Call | null }>(api, 'query ($id: ID!) { call(id: $id) { id outcome error { code } } }', { id }))
      .call;
  const timed = <Answer>(answer: Promise<Answer>): Promise<Timed<Answer>> =>
    answer.then((value) => ({ answer: value, at: Date.now() }));
  const expectSoonAfter = (leaseUntil: number, { at }: { readonly at: number }) => {
    expect(at - leaseUntil).toBeGreaterThan(0);
    expect(at - leaseUntil).toBeLessThan(SETTLED_WITHIN_MS);
  };
  /** The only target of a job, once it is like this. */
  const targetOf = (api: HubProcess, id: string, isSo: (target: TargetNode) => boolean): Promise<TargetNode> =>
    eventually(
      async () => (await targetsOf(api, id))[0] as TargetNode,
      (target) => isSo(target),
      60_000,
    );
  const callsOf = async (device: string, tool: string) => (await fleet?.counts())?.devices[device]?.[tool] ?? 0;
  const underWay = (device: string, tool: string, count = 1) =>
    eventually(
      () => callsOf(device, tool),
      (calls) => calls === count,
    );
  /** The device takes the next call of the tool and never answers. */
  const silence = (device: string, tool: string) =>
    fleet?.perform({ cmd: 'behaviour', device, behaviour: { kind: 'silent', tool, times: 1 } });

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    redis = await startRedis();
    sql = new Client({ connectionString: database.url });
    await sql.connect();
  });
  afterAll(async () => {
    await fleet?.stop();
    for (const hub of processes) {
      await hub.stop();
      removeDataDir(hub.dataDir);
    }
    await sql.end();
    await redis.stop();
    await database.close();
  });

  /** The presences of a device that a subscriber receives. */
  const presencesOf = (api: HubProcess, deviceId: string) => {
    const client = subscriptions(api);
    const seen: unknown[] = [];
    const query = `subscription { deviceChanged(filter: { ids: ["${deviceId}"] }) { presence } }`;
    const end = client.subscribe<{ deviceChanged: { presence: string } }>(
      { query },
      {
        next: ({ data }) => seen.push(data?.deviceChanged.presence),
        error: () => undefined,
        complete: () => undefined,
      },
    );
    const close = async () => {
      end();
      await client.dispose();
    };
    return { seen, close };
  };

  it('has its calls end UNKNOWN with its lease, sends again what may be, and verifies what can be', async () => {
    const api = await start('api,worker', { FLOTILLA_VERIFY_REBOOT_SECONDS: '60' });
    const gateway = await start('gateway');
    fleet = startFleet(gateway, { devices: 4, profile: 'lamp', transport: 'mqtt', seed: 31 });
    await online(api, 4);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(api, '{ devices { nodes { id } } }');
    const [single = '', once = '', again = '', reboots = ''] = devices.nodes.map(({ id }) => id);
    for (const device of [single, once]) await silence(device, lamp);
    await silence(again, status);
    await silence(reboots, 'self.reboot');
    // It stays connected, so that nothing but the end of the gateway ends the call.
    await fleet.perform({ cmd: 'behaviour', device: reboots, behaviour: { kind: 'noEffect', tool: 'self.reboot' } });
    const watch = presencesOf(api, single);
    const job = (tool: string, id: string) =>
      jobOf(api, { tool, devices: { ids: [id] }, callTimeoutMs: TIMEOUT_MS }, randomUUID());
    const answered = timed(callTool(api, { deviceId: single, tool: lamp }));
    const [onceJob, againJob, rebootJob] = await Promise.all([
      job(lamp, once),
      job(status, again),
      job('self.reboot', reboots),
    ]);
    await Promise.all([
      underWay(single, lamp),
      underWay(once, lamp),
      underWay(again, status),
      underWay(reboots, 'self.reboot'),
    ]);

    const leaseUntil = await kill(gateway);
    const ends = await Promise.all([
      answered,
      timed(targetOf(api, onceJob, ({ outcome }) => outcome !== null)),
      timed(targetOf(api, againJob, ({ state }) => !['DISPATCHING', 'SENT'].includes(state))),
      timed(targetOf(api, rebootJob, ({ state }) => state === 'VERIFYING')),
    ]);
    for (const end of ends) expectSoonAfter(leaseUntil, end);
    const [{ answer: call }, { answer: target }] = ends;
    expect(call).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'GATEWAY_UNREACHABLE' } });
    expect(await recordOf(api, call.id)).toEqual(call);
    expect(target).toMatchObject({ outcome: 'UNKNOWN', attempts: 1, error: { code: 'GATEWAY_UNREACHABLE' } });
    await finished(api, onceJob, 10_000);
    await eventually(
      () => watch.seen,
      (seen) => seen.includes('OFFLINE'),
      20_000,
    );
    await watch.close();

    // The devices find another gateway at the same address.
    await start('gateway', {
      FLOTILLA_MQTT_PORT: String(gateway.mqttPort),
      FLOTILLA_HTTP_PORT: String(gateway.httpPort),
    });
    await finished(api, againJob, 60_000);
    await finished(api, rebootJob, 60_000);
    expect((await targetsOf(api, againJob))[0]).toMatchObject({ outcome: 'SUCCEEDED', attempts: 2 });
    // Its session was ended by the crash, so its next one proves no restart.
    expect((await targetsOf(api, rebootJob))[0]).toMatchObject({
      outcome: 'UNKNOWN',
      attempts: 1,
      error: { code: 'HUB_RESTARTED' },
    });
    const calls = [callsOf(single, lamp), callsOf(once, lamp), callsOf(again, status), callsOf(reboots, 'self.reboot')];
    expect(await Promise.all(calls)).toEqual([1, 1, 2, 1]);
  });

  it('has a call that it had begun with an idempotency key answered by another process, and on record', async () => {
    const [other] = [...processes].filter(({ mqttPort }) => mqttPort === 0);
    if (other === undefined || fleet === undefined) throw new TypeError('The first story left nothing.');
    const api = await start('api');
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      other,
      '{ devices(filter: { presence: ONLINE }) { nodes { id } } }',
    );
    const deviceId = devices.nodes[0]?.id ?? '';
    await silence(deviceId, lamp);
    const before = await callsOf(deviceId, lamp);
    const input = { deviceId, tool: lamp, idempotencyKey: randomUUID() };
    void callTool(api, input).catch(() => undefined);
    await underWay(deviceId, lamp, before + 1);
    const leaseUntil = await kill(api);
    const repeated = await timed(callTool(other, input));
    expectSoonAfter(leaseUntil, repeated);
    expect(repeated.answer).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'HUB_RESTARTED' } });
    const recorded = await eventually(
      () => recordOf(other, repeated.answer.id),
      (record) => record !== null,
    );
    expect(recorded).toEqual(repeated.answer);
    expect(await callsOf(deviceId, lamp)).toBe(before + 1);
  });
});
