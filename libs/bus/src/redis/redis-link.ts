/** The two connections to Redis that directory, calls and feed share: one for commands, one that only listens. Queues have their own. */
import { Redis } from 'ioredis';
import { BusError } from '../bus-error.js';
import type { BusLogger } from '../bus-logger.js';

/** Longest time between two tries to connect again; the first come at once. */
const RECONNECT_DELAY_MAX_MS = 2_000;

const commandOptions = {
  lazyConnect: true,
  enableAutoPipelining: true,
  // A command fails at once while Redis is away, which is what makes "certainly not handed over" certain.
  enableOfflineQueue: false,
  // A command whose answer was lost with the connection fails and is not sent again: it may have been a call, and would run twice.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} as const;

export class RedisLink {
  readonly commands: Redis;
  readonly #subscriber: Redis;
  readonly #listeners = new Map<string, (text: string) => void>();
  /** What the connection last said; the call that fails by it only says that the connection is closed. */
  #reason: string | undefined;

  constructor(redisUrl: string, logger: BusLogger) {
    const retryStrategy = (attempt: number): number => Math.min(attempt * 50, RECONNECT_DELAY_MAX_MS);
    this.commands = new Redis(redisUrl, { ...commandOptions, retryStrategy });
    this.#subscriber = new Redis(redisUrl, { lazyConnect: true, retryStrategy });
    for (const connection of [this.commands, this.#subscriber]) {
      logOutages(connection, logger);
      connection.on('error', (error) => (this.#reason = messageOf(error)));
    }
    this.#subscriber.on('message', (channel, text) => this.#listeners.get(channel)?.(text));
  }

  /** Throws BusError BUS_UNAVAILABLE. */
  async open(): Promise<void> {
    try {
      await Promise.all([this.commands.connect(), this.#subscriber.connect()]);
    } catch (cause) {
      this.close();
      const { host, port } = this.commands.options;
      throw new BusError(
        'BUS_UNAVAILABLE',
        `Redis at ${host}:${port} does not let the hub in: ${this.#reason ?? messageOf(cause)}. Check that it runs, and that REDIS_URL has its address and password.`,
        { cause },
      );
    }
  }

  get isReady(): boolean {
    return this.commands.status === 'ready';
  }

  /** Resolves when messages of the channel arrive; again by itself after a reconnect. One listener per channel. */
  async listen(channel: string, listener: (text: string) => void): Promise<() => Promise<void>> {
    this.#listeners.set(channel, listener);
    await this.#subscriber.subscribe(channel);
    return async () => {
      this.#listeners.delete(channel);
      if (this.#subscriber.status === 'ready') await this.#subscriber.unsubscribe(channel);
    };
  }

  close(): void {
    this.commands.disconnect();
    this.#subscriber.disconnect();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One line per outage, not one per try. */
function logOutages(connection: Redis, logger: BusLogger): void {
  let isAway = false;
  connection.on('ready', () => (isAway = false));
  connection.on('error', (error) => {
    if (!isAway) logger.warn({ err: error }, 'lost a connection to Redis');
    isAway = true;
  });
}
