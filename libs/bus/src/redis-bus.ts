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
import { impatient, patient } from './redis/redis-errors.js';
import { RedisLink } from './redis/redis-link.js';
import { RedisServers } from './redis/redis-servers.js';

interface RedisBusOptions {
  /** One server, Sentinels or a cluster, see redis-url.ts. */
  readonly redisUrl: string;
  /** CA certificates (PEM) for TLS, instead of the system's. */
  readonly redisCa?: string | undefined;
  /** The common secret of the hub's processes, which signs their messages. */
  readonly secret: string;
  readonly logger: BusLogger;
}

/**
 * Throws BusError BUS_UNAVAILABLE if Redis does not answer or rejects the hub, and a RangeError if
 * the URL is wrong.
 */
export async function openRedisBus({ redisUrl, redisCa, secret, logger }: RedisBusOptions): Promise<Bus> {
  const servers = new RedisServers({ url: redisUrl, ca: redisCa });
  const link = new RedisLink(servers, new MessageSeal(secret, randomUUID()), logger);
  await link.open();
  const ticks = makeTicks(servers, logger);
  // A Redis that lost its data has no schedules.
  link.commands.on('ready', () => void ticks.restoreRepeats());
  const directory = new RedisDirectory(link, logger);
  const calls = new RedisCallRouter(link, logger);
  const feed = new RedisFeed(link, logger);
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
    directory,
    calls,
    feed,
    ticks,
    close,
    refused: link.refused.counts,
    get isReachable() {
      return link.isReachable;
    },
  };
}

function makeTicks({ options, prefix }: RedisServers, logger: BusLogger): BullmqTickQueue<ConnectionOptions> {
  return new BullmqTickQueue<ConnectionOptions>(
    {
      // Adding fails at once while Redis is unreachable, so that requests do not wait. The sweep
      // replaces a lost tick.
      queueConnection: { ...options, ...impatient, enableOfflineQueue: false },
      // BullMQ requires endless retries of the blocking connection.
      workerConnection: { ...options, ...patient, maxRetriesPerRequest: null },
      factory: createRedisBackend,
      prefix: `${prefix}:queue`,
    },
    logger,
  );
}
