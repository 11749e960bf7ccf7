/**
 * The master of Redis is killed under a hub of two processes, with Sentinels and in a cluster:
 * calls say what happened or finish, a running job ends with an outcome for each device, and no
 * process is restarted.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { redisPassword, startCluster, startSentinels, type RedisGroup } from '../src/hub/redis-failover.js';
import { isRedisInstalled } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { finished, jobOf, online, readJob, sumOf, targetsOf } from '../src/jobs/job-api.js';

const DEVICES = 8;
const status = 'self.get_device_status';
const turnOn = 'self.lamp.turn_on';

interface Answer {
  readonly call: { readonly outcome: string; readonly error: { readonly code: string } | null } | null;
  readonly userErrors: readonly { readonly code: string; readonly message: string }[];
}

const groups = [
  { kind: 'Sentinels', start: startSentinels },
  { kind: 'a cluster', start: startCluster },
];

const isSuccess = ({ call: made }: Answer): boolean => made?.outcome === 'SUCCEEDED';

/** The ends that a call may have while the master of Redis is replaced. */
function expectHonest({ call: made, userErrors }: Answer): void {
  switch (made?.outcome) {
    case 'SUCCEEDED':
      return expect(userErrors).toEqual([]);
    // A call whose message or answer was inside the master has no other end than its deadline.
    case 'UNKNOWN':
      return expect(['GATEWAY_UNREACHABLE', 'TIMEOUT']).toContain(made.error?.code);
    // Refused before it had a record, or recorded because Redis was lost after the lookup.
    default: {
      expect(made?.outcome ?? 'NOT_SENT').toBe('NOT_SENT');
      const [refusal] = userErrors;
      // A gateway that reconnects later than the caller has no receiver for the call.
      expect(['UNAVAILABLE', 'DEVICE_OFFLINE']).toContain(refusal?.code);
      expect(made?.error?.code ?? refusal?.code).toBe(refusal?.code);
      expect(refusal?.message).toMatch(/Redis.* Nothing was sent\. Try again/);
    }
  }
}

describe.skipIf(!isRedisInstalled()).each(groups)('a hub of several processes with $kind', ({ start }) => {
  let database: TestDatabase;
  let redis: RedisGroup;
  let api: HubProcess;
  let gateway: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    redis = await start();
    const env = {
      FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
      FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
    };
    api = await startHub({ env: { ...env, FLOTILLA_ROLES: 'api,worker' } });
    gateway = await startHub({ env: { ...env, FLOTILLA_ROLES: 'gateway' } });
    fleet = startFleet(gateway, { devices: DEVICES, profile: 'lamp', transport: 'mqtt', seed: 43 });
    await online(api, DEVICES);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(api, '{ devices { nodes { id } } }');
    ids = devices.nodes.map(({ id }) => id);
  });
  afterAll(async () => {
    await fleet.stop();
    for (const hub of [api, gateway]) {
      expect(await hub.stop()).toBe(0);
      expect(hub.log()).not.toMatch(/unhandled/i);
      expect(hub.log()).not.toContain(redisPassword);
      expect(hub.log()).not.toContain(encodeURIComponent(redisPassword));
      removeDataDir(hub.dataDir);
    }
    await redis.stop();
    await database.close();
  });

  const call = async (tool: string): Promise<Answer> => {
    const query =
      'mutation ($input: CallToolInput!) { callTool(input: $input) ' +
      '{ call { outcome error { code } } userErrors { code message } } }';
    const input = { deviceId: ids[0], tool, timeoutMs: 5_000 };
    return (await ask<{ callTool: Answer }>(api, query, { input })).callTool;
  };

  it('goes on over the new master: calls finish or name Redis, and a job ends with every outcome', async () => {
    expect(await call(status)).toMatchObject({ call: { outcome: 'SUCCEEDED' }, userErrors: [] });
    await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'slow', tool: turnOn, ms: 700 } });
    const before = (await fleet.counts()).devices;
    const input = { tool: turnOn, devices: { ids }, offline: 'WAIT', maxInFlight: 2, callTimeoutMs: 5_000 };
    const id = await jobOf(api, input, randomUUID());
    await eventually(
      () => readJob(api, id),
      ({ progress }) => progress.succeeded > 0,
    );
    await redis.killMaster();

    const answers: Answer[] = [];
    await eventually(
      async () => {
        const answer = await call(status);
        answers.push(answer);
        return answer;
      },
      // The first success may have been on its way before.
      ({ call: made }) => made?.outcome === 'SUCCEEDED' && answers.some((answer) => !isSuccess(answer)),
      60_000,
    );
    for (const answer of answers) expectHonest(answer);

    const job = await finished(api, id, 60_000);
    expect(sumOf(job)).toBe(DEVICES);
    const after = (await fleet.counts()).devices;
    for (const { deviceId, outcome } of await targetsOf(api, id)) {
      const ran = (after[deviceId]?.[turnOn] ?? 0) - (before[deviceId]?.[turnOn] ?? 0);
      expect(ran).toBeLessThanOrEqual(1);
      if (outcome === 'SUCCEEDED') expect(ran).toBe(1);
      else expect(outcome).toBe('UNKNOWN');
    }
    // A new job is woken by the queue, whose data came with the new master.
    const next = await jobOf(api, { tool: status, devices: { ids } }, randomUUID());
    expect((await finished(api, next, 60_000)).progress).toMatchObject({ succeeded: DEVICES });
    for (const hub of [api, gateway])
      await eventually(
        () => fetch(`${hub.httpUrl}/health/ready`).then((response) => response.status),
        (code) => code === 200,
      );
  });
});
