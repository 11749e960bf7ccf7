import { describe, expect, it } from 'vitest';
import { parseRedisUrl, redisUrlProblem } from './redis-url.js';

describe('a REDIS_URL', () => {
  it('names one server, with user, password and database', () => {
    expect(parseRedisUrl('redis://hub:p%40ss%2Fw@redis.example.net:6380/2')).toEqual({
      topology: 'single',
      hosts: [{ host: 'redis.example.net', port: 6380 }],
      isTls: false,
      username: 'hub',
      password: 'p@ss/w',
      db: 2,
      sentinel: undefined,
    });
    expect(parseRedisUrl('rediss://:secret@[::1]/')).toMatchObject({
      hosts: [{ host: '::1', port: 6379 }],
      isTls: true,
      username: undefined,
      password: 'secret',
      db: 0,
    });
  });

  it('names Sentinels, their master and the account there', () => {
    const url = 'rediss-sentinel://hub:pw@a,b:26380/1?sentinelMasterId=fleet&sentinelUsername=s&sentinelPassword=p%26w';
    expect(parseRedisUrl(url)).toMatchObject({
      topology: 'sentinel',
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 26380 },
      ],
      isTls: true,
      db: 1,
      sentinel: { masterName: 'fleet', username: 's', password: 'p&w' },
    });
  });

  it('names nodes of a cluster', () => {
    expect(parseRedisUrl('redis-cluster://a:7000,[fe80::1]:7001')).toMatchObject({
      topology: 'cluster',
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'fe80::1', port: 7001 },
      ],
    });
  });

  it.each([
    ['http://h', 'must be redis://host:port'],
    ['redis:h', 'must be redis://host:port'],
    ['redis://', 'entry 1 is not'],
    ['redis://h:0', 'entry 1 is not'],
    ['redis://h:65536', 'entry 1 is not'],
    ['redis://:pw@::1:6379', 'in brackets'],
    ['redis-cluster://a,,b', 'entry 2 is not'],
    ['redis-cluster://a,', 'entry 2 is not'],
    ['redis://a,b', 'has several hosts'],
    ['redis-cluster://a/1', 'only database 0'],
    ['redis://a/one', 'number of a database'],
    ['redis-sentinel://a,b', '?sentinelMasterId=NAME'],
    ['redis-sentinel://a?sentinelMasterId=', '?sentinelMasterId=NAME'],
    ['redis-sentinel://a?sentinelMasterId=m&name=m', 'unknown parameter'],
    ['redis://a?sentinelMasterId=m', 'unknown parameter'],
    ['redis://hub:100%@a', 'Write %25'],
    [`redis-cluster://${'a,'.repeat(40)}a`, 'at most 32 hosts'],
  ])('(%s) is refused: %s', (url, problem) => {
    expect(redisUrlProblem(url)).toContain(problem);
  });

  it.each([
    'redis://hub:se/cret@h',
    'redis://hub:se?cret@h',
    'redis://hub:se#cret@h',
    'redis://hub:se%cret@h',
    'se://cret',
  ])('is not repeated in its problem, because it may have a password (%s)', (url) => {
    expect(redisUrlProblem(url)).toBeDefined();
    expect(redisUrlProblem(url)).not.toMatch(/se\/|cret|se[?#%]/);
  });
});
