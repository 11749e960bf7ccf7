import { describe, expect, it } from 'vitest';
import { RedisServers } from './redis-servers.js';

const serversOf = (url: string): RedisServers => new RedisServers({ url });

describe('the servers of a REDIS_URL', () => {
  it('have all keys of the hub in one slot of a cluster', () => {
    expect(serversOf('redis-cluster://h').prefix).toBe('{flotilla}');
    expect(serversOf('redis://h').prefix).toBe('flotilla');
  });

  it('are named without a password', () => {
    expect(serversOf('redis://hub:secret@h').place).toBe('h:6379');
    expect(serversOf('rediss-cluster://hub:secret@a,[::1]:7000').place).toBe('a:6379,[::1]:7000 (cluster)');
    const sentinels = 'redis-sentinel://hub:secret@a,b:26380?sentinelMasterId=fleet&sentinelPassword=secret';
    expect(serversOf(sentinels).place).toBe('a:26379,b:26380 (Sentinels of "fleet")');
  });

  it('need Redis 7 in a cluster, for sharded channels', () => {
    const info = (version: string) => `# Server\r\nredis_version:${version}\r\nredis_mode:cluster\r\n`;
    expect(serversOf('redis-cluster://h').unsuitable(info('6.2.14'))).toMatch(/version 6\.2\.14.*Redis 7 or newer/);
    expect(serversOf('redis-cluster://h').unsuitable(info('7.0.0'))).toBeUndefined();
    expect(serversOf('redis-cluster://h').unsuitable(info('10.0.0'))).toBeUndefined();
  });
});
