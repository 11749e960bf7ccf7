/** The bus of a hub with several processes, over one Redis. Losing Redis loses no job or record. */
import { randomUUID } from 'node:crypto';
import { createRedisBackend } from 'bullmq';
import type { ConnectionOptions } from 'bullmq';
import { BullmqTickQueue } from './ticks/bullmq-tick-queue.js';
import type { BusLogger } from './bus-logger.js';
import type { Bus } from './bus.js';
import { RedisCallRouter } from './calls/redis-call-router.js';
import { RedisDirectory } from './directory/redis-directory.js';
import { RedisFeed } from './feed/redis-feed.js';
import { MessageSeal } from './redis/message-seal.js';
import { impatient, persistent, tlsOf } from './redis/redis-address.js';
import type { RedisAddress } from './redis/redis-address.js';
import { RedisLink } from './redis/redis-link.js';

export interface RedisBusOptions {
  readonly redisUrl: string;
  /** CA certificates (PEM) for a `rediss://` server, instead of the system's. */
  readonly redisCa?: string | undefined;
  /** The common secret of the hub's processes, which signs their messages. */
  readonly secret: string;
  readonly logger: BusLogger;
  /** Prefix of all keys and channels (`flotilla`), so that two hubs can share a Redis. */
  readonly prefix?: string;
}

/** Throws BusError BUS_UNAVAILABLE if Redis does not answer or rejects the hub. */
export async function openRedisBus(options: RedisBusOptions): Promise<Bus> {
  const { redisUrl, redisCa, secret, logger } = options;
  const prefix = options.prefix ?? 'flotilla';
  const address = { url: redisUrl, ca: redisCa };
  const link = new RedisLink(address, new MessageSeal(secret, randomUUID()), logger);
  await link.open();
  const ticks = makeTicks(address, prefix, logger);
  // A Redis that lost its data has no schedules.
  link.commands.on('ready', () => void ticks.restoreRepeats());
  const directory = new RedisDirectory(link, prefix, logger);
  const calls = new RedisCallRouter(link, prefix, logger);
  const feed = new RedisFeed(link, prefix, logger);
  const close = async (): Promise<void> => {
    // The last replies to other processes, whose calls would otherwise end UNKNOWN.
    await link.flush();
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
  return {
    ...{ directory, calls, feed, ticks, close },
    refused: link.refused.counts,
    get isReachable() {
      return link.isReachable;
    },
  };
}

function makeTicks(address: RedisAddress, prefix: string, logger: BusLogger): BullmqTickQueue<ConnectionOptions> {
  const connection = { url: address.url, ...tlsOf(address), ...persistent };
  return new BullmqTickQueue<ConnectionOptions>(
    {
      // Adding fails at once while Redis is unreachable, so that requests do not wait. The sweep
      // replaces a lost tick.
      queueConnection: { ...connection, ...impatient, enableOfflineQueue: false },
      // BullMQ requires endless retries of the blocking connection.
      workerConnection: { ...connection, maxRetriesPerRequest: null },
      factory: createRedisBackend,
      prefix: `${prefix}:queue`,
    },
    logger,
  );
}
