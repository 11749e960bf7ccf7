/** The log of a session whose device is at another process, over Redis, and moves to a third. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, subscriptions } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { online } from '../src/jobs/job-api.js';

interface Entry {
  readonly kind: string;
  readonly text: string;
}

const CALL = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }';

describe.skipIf(!isRedisInstalled())('the log of a session in a hub of several processes', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  const hubs: HubProcess[] = [];
  const fleets: SimulatedFleet[] = [];
  const secrets = {
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
  };
  const start = async (role: 'gateway' | 'api') => {
    const env = { ...secrets, DATABASE_URL: database.url, REDIS_URL: redis.url, FLOTILLA_ROLES: role };
    const hub = await startHub({ env });
    hubs.push(hub);
    return hub;
  };
  const connect = (gateway: HubProcess) => {
    const fleet = startFleet(gateway, { devices: 1, profile: 'lamp', seed: 51 });
    fleets.push(fleet);
    return fleet;
  };

  beforeAll(async () => {
    [database, redis] = await Promise.all([openTestDatabase(), startRedis()]);
  });

  afterAll(async () => {
    for (const fleet of fleets) await fleet.stop();
    for (const hub of hubs) {
      await hub.stop();
      removeDataDir(hub.dataDir);
    }
    await redis.stop();
    await database.close();
  });

  it('follows the device from one gateway to another', async () => {
    const [api, one, another] = await Promise.all([start('api'), start('gateway'), start('gateway')]);
    connect(one);
    await online(api, 1);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(api, '{ devices { nodes { id } } }');
    const id = devices.nodes[0]?.id ?? '';
    const client = subscriptions(api);
    const query = 'subscription ($id: ID!) { sessionLog(deviceId: $id) { kind text } }';
    const seen: Entry[] = [];
    for await (const { data } of client.iterate<{ sessionLog: Entry }>({ query, variables: { id } })) {
      if (!data) continue;
      const { kind, text } = data.sessionLog;
      seen.push(data.sessionLog);
      if (kind === 'STARTED') {
        await ask(api, CALL, { input: { deviceId: id, tool: 'self.lamp.turn_on' } });
        // The same device again, at the other gateway: the first session ends there.
        connect(another);
      }
      if (kind === 'SENT' && text.includes('"initialize"')) break;
    }
    await client.dispose();
    const texts = seen.map(({ kind, text }) => `${kind} ${text}`);
    expect(texts.some((text) => /^SENT .*self\.lamp\.turn_on/.test(text))).toBe(true);
    expect(texts.some((text) => text.startsWith('RECEIVED'))).toBe(true);
    expect(texts.some((text) => text.startsWith('OPENED MQTT'))).toBe(true);
  });
});
