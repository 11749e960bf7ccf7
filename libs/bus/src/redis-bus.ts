/** The bus of a hub that is several processes: all parts over one Redis, which may be lost without losing a job or a record. */
import { randomUUID } from 'node:crypto';
import { createRedisBackend } from 'bullmq';
import type { ConnectionOptions } from 'bullmq';
import { BullmqTickQueue } from './ticks/bullmq-tick-queue.js';
import type { BusLogger } from './bus-logger.js';
import type { Bus } from './bus.js';
import { RedisCallRouter } from './calls/redis-call-router.js';
import { RedisDirectory } from './directory/redis-directory.js';
import { RedisFeed } from './feed/redis-feed.js';
import { RedisLink } from './redis/redis-link.js';

export interface RedisBusOptions {
  readonly redisUrl: string;
  readonly logger: BusLogger;
  /** Begin of all keys and channels (`flotilla`), so that two hubs can share a Redis. */
  readonly prefix?: string;
}

/** Throws BusError BUS_UNAVAILABLE when Redis does not answer. */
export async function openRedisBus(options: RedisBusOptions): Promise<Bus> {
  const { redisUrl, logger } = options;
  const prefix = options.prefix ?? 'flotilla';
  const names = { prefix, processKey: randomUUID() };
  const link = new RedisLink(redisUrl, logger);
  await link.open();
  const ticks = new BullmqTickQueue<ConnectionOptions>(
    {
      // Adding fails at once while Redis is away: the sweep repairs a lost tick, an operator's request must not wait for it.
      queueConnection: { url: redisUrl, enableOfflineQueue: false },
      // BullMQ demands endless retries of the connection that blocks.
      workerConnection: { url: redisUrl, maxRetriesPerRequest: null },
      factory: createRedisBackend,
      prefix: `${prefix}:queue`,
    },
    logger,
  );
  const directory = new RedisDirectory(link, prefix, logger);
  const calls = new RedisCallRouter(link, names, logger);
  const feed = new RedisFeed(link, names, logger);
  const close = async (): Promise<void> => {
    directory.close();
    calls.close();
    feed.close();
    await ticks.close();
    link.close();
  };
  try {
    await Promise.all([ticks.ready(), calls.open(), feed.open()]);
  } catch (error) {
    await close();
    throw error;
  }
  return { directory, calls, feed, ticks, close };
}
