/** The bus of a hub with one process: all in memory except ticks, which are in PostgreSQL. */
import { createPostgresBackend } from 'bullmq';
import type { PostgresConnectionOptions } from 'bullmq';
import { BullmqTickQueue } from './ticks/bullmq-tick-queue.js';
import type { BusLogger } from './bus-logger.js';
import type { Bus } from './bus.js';
import { LocalCallRouter } from './calls/local-call-router.js';
import { LocalDirectory } from './directory/local-directory.js';
import { LocalFeed } from './feed/local-feed.js';

export interface LocalBusOptions {
  readonly databaseUrl: string;
  /** PostgreSQL schema of the queue's tables (`bullmq`), created if missing. */
  readonly queueSchema?: string;
  readonly logger: BusLogger;
}

/**
 * Connections of the queue's pool and of the worker's. Each adds one for LISTEN; ticks are few, so
 * two suffice.
 */
const POOL_CONNECTIONS_MAX = 2;

/** Throws BusError BUS_UNAVAILABLE if PostgreSQL does not answer. */
export async function openLocalBus(options: LocalBusOptions): Promise<Bus> {
  const pool = {
    connectionString: options.databaseUrl,
    schema: options.queueSchema ?? 'bullmq',
    max: POOL_CONNECTIONS_MAX,
  };
  const ticks = new BullmqTickQueue<PostgresConnectionOptions>(
    { queueConnection: { ...pool, migrate: true }, workerConnection: pool, factory: createPostgresBackend },
    options.logger,
  );
  try {
    await ticks.ready();
  } catch (error) {
    await ticks.close();
    throw error;
  }
  const feed = new LocalFeed(options.logger);
  return {
    directory: new LocalDirectory(),
    calls: new LocalCallRouter(options.logger),
    feed,
    ticks,
    isReachable: true,
    refused: new Map(),
    close: async () => {
      feed.close();
      await ticks.close();
    },
  };
}
