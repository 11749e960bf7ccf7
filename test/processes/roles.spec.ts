/**
 * The hub as several processes, one per role, over one PostgreSQL and one Redis: the same answers,
 * and each process may be killed.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask, subscriptions } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online, readJob, sumOf, targetsOf } from '../src/jobs/job-api.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';

const DEVICES = 60;
/** A killed process is detected after its lease of 15 s ended and another process looked. */
const LEASE_ENDS_WITHIN_MS = 40_000;

interface CallAnswer {
  readonly call: { readonly outcome: string; readonly error: { readonly code: string } | null } | null;
  readonly userErrors: readonly { readonly code: string }[];
}

const CALL = `mutation ($input: CallToolInput!) {
  callTool(input: $input) { call { outcome error { code } } userErrors { code } }
}`;

async function call(api: HubProcess, input: Readonly<Record<string, unknown>>): Promise<CallAnswer> {
  return (await ask<{ callTool: CallAnswer }>(api, CALL, { input })).callTool;
}

/** Ids of the devices that are online, once there are this many. */
async function connected(api: HubProcess, count: number): Promise<readonly string[]> {
  await online(api, count);
  const query = '{ devices(filter: { presence: ONLINE }, first: 200) { nodes { id } } }';
  return (await ask<{ devices: { nodes: { id: string }[] } }>(api, query)).devices.nodes.map(({ id }) => id);
}

async function presenceOf(api: HubProcess, deviceId: string): Promise<string> {
  const query = 'query ($id: ID!) { device(id: $id) { presence } }';
  return (await ask<{ device: { presence: string } }>(api, query, { id: deviceId })).device.presence;
}

describe.skipIf(!isRedisInstalled())('a hub of several processes', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let api: HubProcess;
  let client: ReturnType<typeof subscriptions> | undefined;
  const processes = new Set<HubProcess>();
  const fleets = new Set<SimulatedFleet>();
  const secrets = {
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
  };

  const start = async (role: 'gateway' | 'api' | 'worker') => {
    const env = { ...secrets, DATABASE_URL: database.url, REDIS_URL: redis.url, FLOTILLA_ROLES: role };
    const started = await startHub({ env });
    processes.add(started);
    return started;
  };
  const stop = async (hub: HubProcess) => {
    processes.delete(hub);
    await hub.stop();
    removeDataDir(hub.dataDir);
  };
  const kill = async (hub: HubProcess) => {
    processes.delete(hub);
    await hub.kill();
    removeDataDir(hub.dataDir);
  };
  /** Devices at a gateway, by WebSocket and MQTT. Any process can be asked about them. */
  const connect = (
    gateway: HubProcess,
    options: { readonly devices: number; readonly seed: number; readonly args?: readonly string[] },
  ) => {
    const fleet = startFleet(gateway, { profile: 'lamp', transport: 'mixed', ...options });
    fleets.add(fleet);
    return fleet;
  };

  beforeAll(async () => {
    database = await openTestDatabase();
    redis = await startRedis();
    api = await start('api');
  });

  afterEach(async () => {
    await client?.dispose();
    client = undefined;
    for (const fleet of fleets) await fleet.stop();
    fleets.clear();
    for (const hub of processes) if (hub !== api) await stop(hub);
  });

  afterAll(async () => {
    await stop(api);
    await redis.stop();
    await database.close();
  });

  it('calls a device of another process, runs a job in a third, and streams what happens there', async () => {
    const [gateway] = await Promise.all([start('gateway'), start('worker')]);
    client = subscriptions(api);
    const seen = new Set<string>();
    const events = client.iterate<{ eventAdded: { node: { type: string } } }>({
      query: 'subscription { eventAdded(filter: {}) { node { type } } }',
    });
    const reading = (async () => {
      for await (const { data } of events) if (data) seen.add(data.eventAdded.node.type);
    })();
    const fleet = connect(gateway, { devices: DEVICES, seed: 11 });
    const [deviceId] = await connected(api, DEVICES);
    expect(await call(api, { deviceId, tool: 'self.lamp.turn_on' })).toMatchObject({
      call: { outcome: 'SUCCEEDED' },
      userErrors: [],
    });
    const states = new Set<string>();
    const decided = new Set<string>();
    // Later, so that it is followed before anything is decided.
    const startAt = new Date(Date.now() + 2_000).toISOString();
    const follower = client;
    const id = await jobOf(api, { tool: 'self.lamp.turn_off', devices: { all: true }, startAt }, 'roles-all');
    const following = (async () => {
      const query = `subscription { jobTargetsDecided(jobId: "${id}") { deviceId outcome } }`;
      for await (const { data } of follower.iterate<{ jobTargetsDecided: { deviceId: string }[] }>({ query }))
        for (const target of data?.jobTargetsDecided ?? []) decided.add(target.deviceId);
    })();
    for await (const { data } of client.iterate<{ jobProgress: { state: string } }>({
      query: 'subscription ($id: ID!) { jobProgress(jobId: $id) { state } }',
      variables: { id },
    }))
      if (data) states.add(data.jobProgress.state);
    expect(states).toContain('FINISHED');
    await following;
    expect(decided.size).toBe(DEVICES);
    expect(await readJob(api, id)).toMatchObject({
      conclusion: 'SUCCEEDED',
      progress: { total: DEVICES, succeeded: DEVICES },
    });
    expect((await fleet.counts()).tools['self.lamp.turn_off']).toBe(DEVICES);
    // The subscription may have opened after the first devices came.
    await eventually(
      () => {
        fleet.command({ cmd: 'disconnect', device: deviceId });
        fleet.command({ cmd: 'connect', device: deviceId });
        return [...seen];
      },
      (types) => types.includes('device.connected') && types.includes('device.disconnected'),
    );
    await events.return?.();
    await reading;
  });

  it('ends the job of a killed worker in another one, and runs no call twice', async () => {
    const [gateway, worker] = await Promise.all([start('gateway'), start('worker')]);
    const fleet = connect(gateway, { devices: DEVICES, seed: 12, args: ['--answer-delay-ms', '150'] });
    const ids = await connected(api, DEVICES);
    const id = await jobOf(api, { tool: 'self.lamp.turn_on', devices: { ids }, maxInFlight: 5 }, 'roles-killed');
    await eventually(
      () => readJob(api, id),
      (job) => job.progress.succeeded > 0,
    );
    await kill(worker);
    await start('worker');
    const job = await finished(api, id, LEASE_ENDS_WITHIN_MS + 30_000);
    expect(sumOf(job)).toBe(DEVICES);
    expect(job.progress.succeeded + job.progress.unknown).toBe(DEVICES);
    // An answer gives its place back before it is written: lost are at most those in flight and one
    // batch of the next.
    expect(job.progress.unknown).toBeLessThanOrEqual(10);
    const { devices: counts } = await fleet.counts();
    for (const { deviceId, outcome } of await targetsOf(api, id)) {
      const runs = counts[deviceId]?.['self.lamp.turn_on'] ?? 0;
      expect(runs).toBeLessThanOrEqual(1);
      if (outcome === 'SUCCEEDED') expect(runs).toBe(1);
    }
  });

  it('reports the true outcome of calls at a killed gateway, and its devices offline after its lease', async () => {
    const [gateway] = await Promise.all([start('gateway'), start('worker')]);
    const fleet = connect(gateway, { devices: 4, seed: 13 });
    const [silent = '', other = ''] = await connected(api, 4);
    fleet.command({ cmd: 'behaviour', device: silent, behaviour: { kind: 'silent', tool: 'self.lamp.turn_on' } });
    const unanswered = call(api, { deviceId: silent, tool: 'self.lamp.turn_on', timeoutMs: 3_000 });
    await eventually(
      async () => (await fleet.counts()).devices[silent]?.['self.lamp.turn_on'],
      (runs) => runs === 1,
    );
    await kill(gateway);
    expect(await call(api, { deviceId: other, tool: 'self.lamp.turn_on' })).toMatchObject({
      call: { outcome: 'NOT_SENT', error: { code: 'DEVICE_OFFLINE' } },
    });
    expect(await unanswered).toMatchObject({ call: { outcome: 'UNKNOWN', error: { code: 'GATEWAY_UNREACHABLE' } } });
    await eventually(
      () => presenceOf(api, other),
      (presence) => presence === 'OFFLINE',
      LEASE_ENDS_WITHIN_MS,
    );
  });

  it('has a device that moves to another gateway online once, and calls it there', async () => {
    const [first, second] = await Promise.all([start('gateway'), start('gateway')]);
    connect(first, { devices: 1, seed: 14 });
    const [deviceId = ''] = await connected(api, 1);
    // The same device again: its first connection is still open when the second comes.
    const after = connect(second, { devices: 1, seed: 14 });
    await eventually(
      () => call(api, { deviceId, tool: 'self.lamp.turn_on' }).then(() => after.counts()),
      ({ tools }) => (tools['self.lamp.turn_on'] ?? 0) > 0,
    );
    const query =
      'query ($id: ID!) { device(id: $id) { presence sessions(first: 5) { epoch disconnectedAt closeReason } } }';
    const { device } = await ask<{ device: { presence: string; sessions: { disconnectedAt: string | null }[] } }>(
      api,
      query,
      {
        id: deviceId,
      },
    );
    expect(device.presence).toBe('ONLINE');
    expect(device.sessions.filter(({ disconnectedAt }) => disconnectedAt === null)).toHaveLength(1);
  });
});
