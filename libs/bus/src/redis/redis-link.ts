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
import { impatient, isOfFormerMaster, reasonOf, withoutCommand } from './redis-errors.js';
import { RECONNECT_DELAY_MAX_MS } from './redis-servers.js';
import type { RedisServers } from './redis-servers.js';
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
  readonly #servers: RedisServers;
  readonly #seal: MessageSeal;
  readonly #listeners = new Map<string, (message: string) => void>();
  /** Channels whose subscription is ending: a new connection does not begin it again. */
  readonly #leaving = new Set<string>();
  readonly #pings: NodeJS.Timeout;
  /** The last error; a failing command only reports that the connection is closed. */
  #reason: string | undefined;
  #readySince: number | undefined;
  #isRecovering = false;

  constructor(servers: RedisServers, seal: MessageSeal, logger: BusLogger) {
    const shared: RedisOptions = { ...servers.options, ...impatient };
    const reconnectOnError = (error: Error): boolean => isOfFormerMaster(error) && this.#leaveServer();
    this.commands = new Redis({ ...commandOptions, ...shared, reconnectOnError });
    // A cluster ends subscriptions itself when it moves their slot, and then ioredis forgets them.
    this.#subscriber = new Redis({ lazyConnect: true, autoResubscribe: false, ...shared });
    this.#servers = servers;
    this.#seal = seal;
    this.refused = new RefusedMessages(logger);
    for (const connection of [this.commands, this.#subscriber]) {
      logOutages(connection, logger);
      connection.on('error', (error) => (this.#reason = reasonOf(error)));
    }
    this.commands.on('ready', () => this.#noteReady());
    this.#subscriber.on('ready', () => void this.#resubscribe());
    this.#subscriber.on(servers.isCluster ? 'smessage' : 'message', (channel: string, message: string) =>
      this.#listeners.get(channel)?.(message),
    );
    this.#pings = setInterval(() => this.#ping(), PING_INTERVAL_MS).unref();
  }

  /** Of all keys and channels of the hub. */
  get prefix(): string {
    return this.#servers.prefix;
  }

  /** The name of this process for the others. */
  get sender(): string {
    return this.#seal.sender;
  }

  /** Throws BusError BUS_UNAVAILABLE. */
  async open(): Promise<void> {
    try {
      await Promise.all([this.commands.connect(), this.#subscriber.connect()]);
      const problem = this.#servers.unsuitable(await this.commands.info('server'));
      if (problem !== undefined)
        throw new BusError('BUS_UNAVAILABLE', `The hub cannot use Redis at ${this.#servers.place}. ${problem}`);
    } catch (cause) {
      this.close();
      if (cause instanceof BusError) throw cause;
      const reason = this.#reason ?? reasonOf(cause);
      const message = `Redis at ${this.#servers.place} does not accept the hub: ${reason}. ${adviceFor(reason)}`;
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
    return this.#isRecovering && this.#readySince !== undefined && performance.now() - this.#readySince < RECOVERY_MS;
  }

  /** Resolves to the number of connections that received the message. */
  async publish(channel: string, text: string): Promise<number> {
    const message = this.#seal.seal(channel, text);
    try {
      return await (this.#servers.isCluster
        ? this.commands.spublish(channel, message).then(Number)
        : this.commands.publish(channel, message));
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
    const listen = (message: string): void => {
      if (!isWanted() || this.#seal.isOwn(message)) return;
      const opened = this.#seal.open(channel, message);
      if ('problem' in opened) this.refused.add(opened.problem, channel);
      else listener(opened.text, opened.sender);
    };
    this.#listeners.set(channel, listen);
    this.#leaving.delete(channel);
    try {
      await this.#subscribe(channel);
    } catch (cause) {
      const message = `Redis at ${this.#servers.place} does not let the hub listen to ${channel}: ${reasonOf(cause)}`;
      throw new BusError('BUS_UNAVAILABLE', message, { cause: withoutCommand(cause) });
    }
    return async () => {
      this.#leaving.add(channel);
      try {
        // What Redis counts as received until then still arrives.
        if (this.#subscriber.status === 'ready') await this.#unsubscribe(channel);
      } finally {
        this.#leaving.delete(channel);
        if (this.#listeners.get(channel) === listen) this.#listeners.delete(channel);
      }
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
    this.#readySince = performance.now();
  }

  #subscribe(channel: string): Promise<unknown> {
    return this.#servers.isCluster ? this.#subscriber.ssubscribe(channel) : this.#subscriber.subscribe(channel);
  }

  #unsubscribe(channel: string): Promise<unknown> {
    return this.#servers.isCluster ? this.#subscriber.sunsubscribe(channel) : this.#subscriber.unsubscribe(channel);
  }

  /** Each channel alone: in a cluster it may have moved since the connection was opened. */
  async #resubscribe(): Promise<void> {
    const channels = [...this.#listeners.keys()].filter((channel) => !this.#leaving.has(channel));
    try {
      await Promise.all(channels.map((channel) => this.#subscribe(channel)));
    } catch {
      // The server lost the channels or the connection. The next attempt asks for the master again.
      if (this.#subscriber.status === 'ready') this.#subscriber.disconnect(true);
    }
  }

  /** The subscriber is on the same server, which does not always report that it is not master. */
  #leaveServer(): true {
    if (this.#subscriber.status === 'ready') this.#subscriber.disconnect(true);
    return true;
  }

  /**
   * The answer is irrelevant: without one, the connection ends by its socket timeout. In a cluster
   * the question is about a key, because only that shows that another node has the data.
   */
  #ping(): void {
    const { isCluster, prefix } = this.#servers;
    if (this.isReady)
      (isCluster ? this.commands.exists(`${prefix}:owner`) : this.commands.ping()).catch(() => undefined);
    if (this.#subscriber.status === 'ready') this.#subscriber.ping().catch(() => undefined);
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
  if (/no master has the name/.test(reason))
    return 'Check that sentinelMasterId in REDIS_URL is the name of the master in the Sentinels.';
  if (/cluster support disabled/.test(reason))
    return 'Begin REDIS_URL with redis:// or redis-sentinel://, because this server is not in a cluster.';
  if (/unknown command.*SENTINEL/i.test(reason))
    return 'REDIS_URL with redis-sentinel:// names the Sentinels, not the master.';
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
