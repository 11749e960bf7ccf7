import { afterEach, describe, expect, it } from 'vitest';
import { checkRedis } from './check-redis.js';
import { isRedisInstalled, RedisServer } from './redis-server.suite.js';

describe.skipIf(!isRedisInstalled())('the check of Redis', () => {
  const servers: RedisServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });

  async function check(args: readonly string[] = []) {
    const server = await RedisServer.start({ args });
    servers.push(server);
    return checkRedis({ redisUrl: server.url, redisCa: undefined, now: Date.now });
  }

  it('returns version, policy, round trips and clock', async () => {
    const facts = await check();
    expect(facts).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+/),
      policy: 'noeviction',
      problem: undefined,
    });
    expect(Math.abs(facts.clockAheadMs)).toBeLessThan(1_000);
    expect(facts.latencyMs).toBeGreaterThanOrEqual(0);
  });

  it('finds a policy that removes keys, and a server of another kind', async () => {
    expect((await check(['--maxmemory-policy', 'allkeys-lru'])).policy).toBe('allkeys-lru');
    const cluster = await RedisServer.startCluster();
    servers.push(cluster);
    const { problem } = await checkRedis({ redisUrl: cluster.url, redisCa: undefined, now: Date.now });
    expect(problem).toContain('redis-cluster://');
  });

  it('rejects without the password if the server does not answer or refuses', async () => {
    const url = 'redis://someone:the-secret@127.0.0.1:1';
    await expect(checkRedis({ redisUrl: url, redisCa: undefined, now: Date.now })).rejects.toThrow(/ECONNREFUSED/);
    const error: unknown = await checkRedis({ redisUrl: url, redisCa: undefined, now: Date.now }).catch(String);
    expect(error).not.toContain('the-secret');
  });
});
