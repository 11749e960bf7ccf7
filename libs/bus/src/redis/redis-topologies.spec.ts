import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from '../bus.js';
import type { BusHarness } from '../bus-harness.suite.js';
import { describeCallRouter } from '../calls/call-router.suite.js';
import { describeDirectory } from '../directory/directory.suite.js';
import { describeFeed } from '../feed/feed.suite.js';
import { openRedisBus } from '../redis-bus.js';
import { describeTickQueue } from '../ticks/tick-queue.suite.js';
import { isRedisInstalled, RedisServer } from './redis-server.suite.js';

const silent = { warn: () => undefined, error: () => undefined };
const PASSWORD = 'a-password-of-redis';
/** The rights that docs/operations.md documents for a cluster. */
const RIGHTS = `hub on >${PASSWORD} ~{flotilla}:* &{flotilla}:* +@all -@admin -@dangerous +info`;
const open = (redisUrl: string): Promise<Bus> => openRedisBus({ redisUrl, secret: 'of the hub', logger: silent });

interface Servers {
  readonly url: string;
  readonly all: readonly RedisServer[];
}

const topologies: readonly { readonly name: string; readonly start: () => Promise<Servers> }[] = [
  {
    name: 'a Sentinel',
    start: async () => {
      const master = await RedisServer.start({ args: ['--requirepass', PASSWORD], credentials: `:${PASSWORD}` });
      const sentinel = await RedisServer.startSentinel('fleet', master);
      const url = `redis-sentinel://:${PASSWORD}@127.0.0.1:${sentinel.port}/0?sentinelMasterId=fleet`;
      return { url, all: [sentinel, master] };
    },
  },
  {
    name: 'a cluster with a user of few rights',
    start: async () => {
      const node = await RedisServer.startCluster({ args: ['--user', ...RIGHTS.split(' ')] });
      return { url: `redis-cluster://hub:${PASSWORD}@127.0.0.1:1,127.0.0.1:${node.port}`, all: [node] };
    },
  },
];

describe.skipIf(!isRedisInstalled()).each(topologies)('a bus over $name', ({ start }) => {
  let servers: Servers | undefined;
  let pair: { readonly here: Bus; readonly there: Bus } | undefined;

  beforeAll(async () => {
    const { url } = (servers = await start());
    pair = { here: await open(url), there: await open(url) };
  });
  afterAll(async () => {
    await pair?.here.close();
    await pair?.there.close();
    for (const server of servers?.all ?? []) await server.stop();
  });

  const buses = (): { here: Bus; there: Bus } => {
    if (pair === undefined) throw new TypeError('The buses were not opened.');
    return pair;
  };
  const harness: BusHarness = { name: 'two processes', buses };
  describeDirectory(harness);
  describeCallRouter(harness);
  describeFeed(harness);
  describeTickQueue(harness);
});

describe.skipIf(!isRedisInstalled())('a REDIS_URL of another topology', () => {
  let plain: RedisServer;
  let sentinel: RedisServer;
  let node: RedisServer;

  beforeAll(async () => {
    plain = await RedisServer.start();
    sentinel = await RedisServer.startSentinel('fleet', plain);
    node = await RedisServer.startCluster();
  });
  afterAll(async () => {
    for (const server of [sentinel, plain, node]) await server.stop();
  });

  it.each([
    ['redis://, of a cluster', () => node.url, 'Begin REDIS_URL with redis-cluster://'],
    ['redis://, of a Sentinel', () => sentinel.url, 'Begin REDIS_URL with redis-sentinel://'],
    [
      'redis-cluster://, of one server',
      () => `redis-cluster://127.0.0.1:${plain.port}`,
      'Begin REDIS_URL with redis://',
    ],
    [
      'redis-sentinel://, of one server',
      () => `redis-sentinel://127.0.0.1:${plain.port}?sentinelMasterId=fleet`,
      'names the Sentinels, not the master',
    ],
    [
      'redis-sentinel://, with an unknown master',
      () => `redis-sentinel://127.0.0.1:${sentinel.port}?sentinelMasterId=other`,
      'sentinelMasterId in REDIS_URL',
    ],
    ['redis-sentinel://, where none listens', () => 'redis-sentinel://127.0.0.1:1?sentinelMasterId=m', 'ECONNREFUSED'],
    ['redis-cluster://, where none listens', () => 'redis-cluster://127.0.0.1:1,127.0.0.1:2', 'ECONNREFUSED'],
  ])('(%s) is refused with advice', async (_what, url, advice) => {
    await expect(open(url())).rejects.toMatchObject({
      name: 'BusError',
      code: 'BUS_UNAVAILABLE',
      message: expect.stringContaining(advice) as string,
    });
  });
});
