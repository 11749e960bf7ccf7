/**
 * The two connections to Redis that directory, calls and feed share: one for commands, one for
 * subscriptions. Queues have their own. Signs published messages; drops and counts messages without
 * a valid signature.
 */
import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { BusError } from '../bus-error.js';
import type { BusLogger } from '../bus-logger.js';
import type { MessageSeal } from './message-seal.js';
import {
  impatient,
  persistent,
  placeOf,
  reasonOf,
  RECONNECT_DELAY_MAX_MS,
  tlsOf,
  withoutCommand,
} from './redis-address.js';
import type { RedisAddress } from './redis-address.js';
import { RefusedMessages } from './refused-messages.js';

/** The interval of pings, ms: a mere subscriber would not notice that Redis hangs. */
const PING_INTERVAL_MS = 1_000;
/** How long other processes may need to reconnect after this one, ms. */
const RECOVERY_MS = RECONNECT_DELAY_MAX_MS + 3_000;

const commandOptions = {
  lazyConnect: true,
  enableAutoPipelining: true,
  // A command fails at once while Redis is unreachable, so that it was certainly not delivered.
  enableOfflineQueue: false,
  // A command whose answer was lost fails and is not repeated: it may have been a call, which would
  // run twice.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} as const;

export class RedisLink {
  readonly commands: Redis;
  readonly refused: RefusedMessages;
  readonly #subscriber: Redis;
  readonly #address: RedisAddress;
  readonly #seal: MessageSeal;
  readonly #listeners = new Map<string, (message: string) => void>();
  readonly #pings: NodeJS.Timeout;
  /** The last error; a failing command only reports that the connection is closed. */
  #reason: string | undefined;
  #readySince: number | undefined;
  #isRecovering = false;

  constructor(address: RedisAddress, seal: MessageSeal, logger: BusLogger) {
    const shared: RedisOptions = { ...tlsOf(address), ...impatient, ...persistent };
    this.commands = new Redis(address.url, { ...commandOptions, ...shared });
    this.#subscriber = new Redis(address.url, { lazyConnect: true, ...shared });
    this.#address = address;
    this.#seal = seal;
    this.refused = new RefusedMessages(logger);
    for (const connection of [this.commands, this.#subscriber]) {
      logOutages(connection, logger);
      connection.on('error', (error) => (this.#reason = reasonOf(error)));
    }
    this.commands.on('ready', () => this.#noteReady());
    this.#subscriber.on('message', (channel, message) => this.#listeners.get(channel)?.(message));
    this.#pings = setInterval(() => this.#ping(), PING_INTERVAL_MS).unref();
  }

  /** The name of this process for the others. */
  get sender(): string {
    return this.#seal.sender;
  }

  /** Throws BusError BUS_UNAVAILABLE. */
  async open(): Promise<void> {
    try {
      await Promise.all([this.commands.connect(), this.#subscriber.connect()]);
    } catch (cause) {
      this.close();
      const reason = this.#reason ?? reasonOf(cause);
      const message = `Redis at ${placeOf(this.#address)} does not accept the hub: ${reason}. ${adviceFor(reason)}`;
      throw new BusError('BUS_UNAVAILABLE', message, { cause: withoutCommand(cause) });
    }
  }

  /** Whether a command can be sent. */
  get isReady(): boolean {
    return this.commands.status === 'ready';
  }

  /** Whether messages can be sent and received. */
  get isReachable(): boolean {
    return this.isReady && this.#subscriber.status === 'ready';
  }

  /** Redis has just recovered: other processes may be missing, and stored values may be lost. */
  get isRecovering(): boolean {
    return this.#isRecovering && this.#readySince !== undefined && Date.now() - this.#readySince < RECOVERY_MS;
  }

  /** Resolves to the number of connections that received the message. */
  async publish(channel: string, text: string): Promise<number> {
    try {
      return await this.commands.publish(channel, this.#seal.seal(channel, text));
    } catch (error) {
      throw withoutCommand(error);
    }
  }

  /** Signs a value that is stored under a key. */
  macOf(key: string, text: string): string {
    return this.#seal.macOf(key, text);
  }

  /**
   * Resolves when messages of the channel arrive, also after reconnects. One listener per channel.
   * Skips messages of this process, and all while `isWanted` returns false.
   */
  async listen(
    channel: string,
    listener: (text: string, sender: string) => void,
    isWanted = () => true,
  ): Promise<() => Promise<void>> {
    this.#listeners.set(channel, (message) => {
      if (!isWanted() || this.#seal.isOwn(message)) return;
      const opened = this.#seal.open(channel, message);
      if ('problem' in opened) this.refused.add(opened.problem, channel);
      else listener(opened.text, opened.sender);
    });
    try {
      await this.#subscriber.subscribe(channel);
    } catch (cause) {
      const place = placeOf(this.#address);
      const message = `Redis at ${place} does not let the hub listen to ${channel}: ${reasonOf(cause)}`;
      throw new BusError('BUS_UNAVAILABLE', message, { cause: withoutCommand(cause) });
    }
    return async () => {
      this.#listeners.delete(channel);
      if (this.#subscriber.status === 'ready') await this.#subscriber.unsubscribe(channel);
    };
  }

  /** Resolves when Redis has everything that was published before. */
  async flush(): Promise<void> {
    if (this.isReady) await this.commands.ping().catch(() => undefined);
  }

  close(): void {
    clearInterval(this.#pings);
    this.commands.disconnect();
    this.#subscriber.disconnect();
  }

  #noteReady(): void {
    // Nothing can be lost before the first connection.
    this.#isRecovering = this.#readySince !== undefined;
    this.#readySince = Date.now();
  }

  /** The answer is irrelevant: without one, the connection ends by its socket timeout. */
  #ping(): void {
    for (const connection of [this.commands, this.#subscriber])
      if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }
}

function adviceFor(reason: string): string {
  if (/WRONGPASS|NOAUTH|AUTH/.test(reason))
    return (
      'Set the password, or user name and password, in REDIS_URL: redis://user:password@host:port, ' +
      'with special characters percent-encoded.'
    );
  if (/certificate|self-signed|altnames|TLS|SSL|wrong version number/i.test(reason))
    return (
      'Check that REDIS_URL begins with rediss:// if Redis uses TLS, ' +
      'and that FLOTILLA_REDIS_CA names the certificate of its authority.'
    );
  return 'Check that it runs, and that REDIS_URL has its address and password.';
}

/** Logs once per outage, not per attempt. */
function logOutages(connection: Redis, logger: BusLogger): void {
  let isAway = false;
  connection.on('ready', () => (isAway = false));
  connection.on('error', (error) => {
    if (!isAway) logger.warn({ err: withoutCommand(error) }, 'lost a connection to Redis');
    isAway = true;
  });
}
