/** The bus of a hub with one process: all in memory except ticks, which are in PostgreSQL. */
import { createPostgresBackend, runMigrations } from 'bullmq';
import type { PgPool, PostgresConnectionOptions } from 'bullmq';
import { Pool } from 'pg';
import type { PoolConfig } from 'pg';
import { BullmqTickQueue, isDoneInTime } from './ticks/bullmq-tick-queue.js';
import { BusError } from './bus-error.js';
import type { BusLogger } from './bus-logger.js';
import type { Bus } from './bus.js';
import { LocalCallRouter } from './calls/local-call-router.js';
import { LocalDirectory } from './directory/local-directory.js';
import { LocalFeed } from './feed/local-feed.js';
import { reasonOf } from './redis/redis-errors.js';
import type { TickQueue } from './ticks/tick-queue.js';

type LocalBusOptions = { readonly logger: BusLogger } & (
  | { readonly databaseUrl: string }
  /** Opens a pool that follows the primary of several servers. */
  | { readonly openPool: (options: PoolConfig) => Pool }
);

/** BullMQ's schema in PostgreSQL, created if missing. */
const SCHEMA = 'bullmq';
/** Connections of the queue's pool; ticks are few, so two suffice. */
const QUEUE_CONNECTIONS_MAX = 2;
/** The worker needs one more, for LISTEN. */
const WORKER_CONNECTIONS_MAX = 3;

/** An idle connection is tested after this time, ms. The system's own default is two hours. */
const KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Throws BusError BUS_UNAVAILABLE if PostgreSQL does not answer. */
export async function openLocalBus(options: LocalBusOptions): Promise<Bus> {
  const { logger } = options;
  const open = (max: number): Pool => {
    const config = {
      max,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      options: `-c search_path=${SCHEMA}`,
    };
    return 'openPool' in options
      ? options.openPool(config)
      : new Pool({ ...config, connectionString: options.databaseUrl });
  };
  const pools = [open(QUEUE_CONNECTIONS_MAX), open(WORKER_CONNECTIONS_MAX)] as const;
  for (const pool of pools) surviveErrors(pool, logger);
  const [queueConnection, workerConnection] = pools;
  const endPools = async (): Promise<void> => {
    // A tick that never ends keeps its connection.
    await Promise.all(pools.map((pool) => isDoneInTime(pool.end())));
  };
  await migrateQueue(queueConnection).catch(async (error: unknown) => {
    await endPools();
    throw error;
  });
  const ticks = new BullmqTickQueue<PostgresConnectionOptions>(
    // The types of `on` differ; BullMQ takes pools of pg.
    {
      queueConnection: queueConnection as unknown as PgPool,
      workerConnection: workerConnection as unknown as PgPool,
      factory: createPostgresBackend,
    },
    logger,
  );
  const bus = localBus(ticks, logger);
  const close = async (): Promise<void> => {
    await bus.close();
    await ticks.close();
    await endPools();
  };
  try {
    await ticks.ready();
  } catch (error) {
    await close();
    throw error;
  }
  return { ...bus, close };
}

/** A bus over these ticks, which outlive it. */
export function localBus(ticks: TickQueue, logger: BusLogger): Bus {
  const feed = new LocalFeed(logger);
  return {
    directory: new LocalDirectory(),
    calls: new LocalCallRouter(logger),
    feed,
    ticks,
    isReachable: true,
    refused: new Map(),
    close: () => Promise.resolve(feed.close()),
  };
}

/** An unhandled error event of a connection would end the process. */
function surviveErrors(pool: Pool, logger: BusLogger): void {
  pool.on('error', (error) => logger.warn({ message: error.message }, 'an idle connection of the tick queue ended'));
  pool.on('connect', (client) => client.on('error', () => undefined));
}

async function migrateQueue(pool: Pool): Promise<void> {
  try {
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
  } catch (cause) {
    throw new BusError('BUS_UNAVAILABLE', `Could not reach the tick queue: ${reasonOf(cause)}`, { cause });
  }
}
