/**
 * The two connections to Redis that directory, calls and feed share: one for commands, one that only listens. Queues have their own.
 * What goes over a channel is signed here, and what is not signed right is dropped and counted here.
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

/** A connection that is silent is asked for a sign of life, ms: one that only listens would never notice that Redis hangs. */
const PING_INTERVAL_MS = 1_000;
/** How long other processes may need to find Redis again after this one has, ms: their longest delay, and a connect. */
const RECOVERY_MS = RECONNECT_DELAY_MAX_MS + 3_000;

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
  readonly refused: RefusedMessages;
  readonly #subscriber: Redis;
  readonly #address: RedisAddress;
  readonly #seal: MessageSeal;
  readonly #listeners = new Map<string, (message: string) => void>();
  readonly #pings: NodeJS.Timeout;
  /** What the connection last said; the call that fails by it only says that the connection is closed. */
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

  /** This process, as the others see it. */
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

  /** Whether messages go out and come in. */
  get isReachable(): boolean {
    return this.isReady && this.#subscriber.status === 'ready';
  }

  /** Redis was away until a moment ago: other processes may not have found it again yet, and it may have lost what they stored. */
  get isRecovering(): boolean {
    return this.#isRecovering && this.#readySince !== undefined && Date.now() - this.#readySince < RECOVERY_MS;
  }

  /** Resolves to how many connections took the message. */
  async publish(channel: string, text: string): Promise<number> {
    try {
      return await this.commands.publish(channel, this.#seal.seal(channel, text));
    } catch (error) {
      throw withoutCommand(error);
    }
  }

  /** Signs what is stored under a key, so that others can tell that a process of this hub stored it. */
  macOf(key: string, text: string): string {
    return this.#seal.macOf(key, text);
  }

  /**
   * Resolves when messages of the channel arrive; again by itself after a reconnect. One listener per channel. Messages of this process, and those
   * for which `isWanted` is false, are left out unread.
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
      const message = `Redis at ${placeOf(this.#address)} does not let the hub listen to ${channel}: ${reasonOf(cause)}`;
      throw new BusError('BUS_UNAVAILABLE', message, { cause: withoutCommand(cause) });
    }
    return async () => {
      this.#listeners.delete(channel);
      if (this.#subscriber.status === 'ready') await this.#subscriber.unsubscribe(channel);
    };
  }

  close(): void {
    clearInterval(this.#pings);
    this.commands.disconnect();
    this.#subscriber.disconnect();
  }

  #noteReady(): void {
    // The first time there was nothing to lose.
    this.#isRecovering = this.#readySince !== undefined;
    this.#readySince = Date.now();
  }

  /** The answer counts for nothing: where none comes, the connection ends by its socket timeout. */
  #ping(): void {
    for (const connection of [this.commands, this.#subscriber])
      if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }
}

function adviceFor(reason: string): string {
  if (/WRONGPASS|NOAUTH|AUTH/.test(reason))
    return 'Give the password, or the user name and password, in REDIS_URL: redis://user:password@host:port, with special characters percent-encoded.';
  if (/certificate|self-signed|altnames|TLS|SSL|wrong version number/i.test(reason))
    return 'Check that REDIS_URL begins with rediss:// where Redis speaks TLS, and that FLOTILLA_REDIS_CA names the certificate of its authority.';
  return 'Check that it runs, and that REDIS_URL has its address and password.';
}

/** One line per outage, not one per try. */
function logOutages(connection: Redis, logger: BusLogger): void {
  let isAway = false;
  connection.on('ready', () => (isAway = false));
  connection.on('error', (error) => {
    if (!isAway) logger.warn({ err: withoutCommand(error) }, 'lost a connection to Redis');
    isAway = true;
  });
}
