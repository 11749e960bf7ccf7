/** What an operator should know about the Redis of a hub. Changes nothing. */
import { Redis } from 'ioredis';
import { impatient, withoutCommand } from './redis-errors.js';
import { fieldOf, RedisServers } from './redis-servers.js';

interface RedisFacts {
  readonly version: string;
  /** Undefined if the account may not read it. */
  readonly policy: string | undefined;
  /** The median of some round trips, ms. */
  readonly latencyMs: number;
  /** Clock of the server minus clock of this machine, ms. */
  readonly clockAheadMs: number;
  /** Why the hub cannot use this server in this way. */
  readonly problem: string | undefined;
}

const ROUND_TRIPS = 7;

/** `now`: the clock of this machine. Rejects if the server does not answer or rejects the hub. */
export async function checkRedis({
  redisUrl,
  redisCa,
  now,
}: {
  readonly redisUrl: string;
  readonly redisCa: string | undefined;
  readonly now: () => number;
}): Promise<RedisFacts> {
  const servers = new RedisServers({ url: redisUrl, ca: redisCa });
  const redis = new Redis({
    ...servers.options,
    ...impatient,
    retryStrategy: () => null,
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
  });
  let reason: Error | undefined;
  redis.on('error', (error) => (reason ??= error));
  try {
    await redis.connect();
    const info = await redis.info();
    return {
      version: fieldOf(info, 'redis_version') ?? 'unknown',
      policy: fieldOf(info, 'maxmemory_policy'),
      problem: servers.unsuitable(info),
      ...(await timesOf(redis, now)),
    };
  } catch (error) {
    throw withoutCommand(reason ?? error);
  } finally {
    redis.disconnect();
  }
}

async function timesOf(redis: Redis, now: () => number): Promise<Pick<RedisFacts, 'latencyMs' | 'clockAheadMs'>> {
  const trips: { readonly tookMs: number; readonly aheadMs: number }[] = [];
  while (trips.length < ROUND_TRIPS) {
    const sentAt = now();
    const [seconds, micros] = await redis.time();
    const tookMs = now() - sentAt;
    trips.push({ tookMs, aheadMs: Number(seconds) * 1_000 + Number(micros) / 1_000 - (sentAt + tookMs / 2) });
  }
  trips.sort((one, other) => one.tookMs - other.tookMs);
  const median = trips[Math.floor(ROUND_TRIPS / 2)];
  return { latencyMs: median?.tookMs ?? 0, clockAheadMs: Math.round(trips[0]?.aheadMs ?? 0) };
}
