/**
 * The servers that REDIS_URL names, and how each connection reaches the one with the data. All keys
 * of a hub have one hash tag in a cluster, so every connection goes to one master
 * (docs/adr/0009-one-redis-master-in-every-topology.md).
 */
import type { RedisOptions } from 'ioredis';
import { masterFinder } from './master-finder.js';
import { connectorTo } from './redis-connector.js';
import { isOfFormerMaster } from './redis-errors.js';
import { hostText, parseRedisUrl } from './redis-url.js';
import type { RedisHost, RedisUrl } from './redis-url.js';

interface RedisServersOptions {
  /** REDIS_URL, see redis-url.ts. */
  readonly url: string;
  /** CA certificates (PEM) for TLS, instead of the system's. */
  readonly ca?: string | undefined;
}

type ServerOptions = Pick<
  RedisOptions,
  'username' | 'password' | 'tls' | 'db' | 'Connector' | 'connectTimeout' | 'reconnectOnError'
> & { readonly retryStrategy: (attempt: number) => number };

/** Longest time between two attempts to reconnect, ms; the first follow at once. */
export const RECONNECT_DELAY_MAX_MS = 2_000;
/** A server that does not accept a connection in this time is unreachable, ms. */
const CONNECT_MAX_MS = 5_000;
/** Sharded channels came with Redis 7. */
const CLUSTER_VERSION_MIN = 7;

export class RedisServers {
  /** Prefix of all keys and channels; in a cluster it is the hash tag. */
  readonly prefix: string;
  /** For every connection. */
  readonly options: ServerOptions;
  readonly #url: RedisUrl;

  /** Throws a RangeError if the URL is wrong. */
  constructor({ url, ca }: RedisServersOptions) {
    this.#url = parseRedisUrl(url);
    const { topology, isTls, username, password, db } = this.#url;
    this.prefix = topology === 'cluster' ? '{flotilla}' : 'flotilla';
    const tls = isTls ? { ca } : undefined;
    const find = masterFinder(this.#url, tls, this.prefix);
    this.options = {
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      // So ioredis waits for the handshake; the connector has the certificates.
      ...(tls !== undefined && { tls: {} }),
      db,
      Connector: connectorTo({ find, tls, mustBeMaster: topology !== 'single' }),
      connectTimeout: CONNECT_MAX_MS,
      retryStrategy: (attempt) => Math.min(attempt * 50, RECONNECT_DELAY_MAX_MS),
      reconnectOnError: isOfFormerMaster,
    };
  }

  get isCluster(): boolean {
    return this.#url.topology === 'cluster';
  }

  /** For messages. Does not contain the password. */
  get place(): string {
    const hosts = this.#url.hosts.map(hostText).join(',');
    const { sentinel } = this.#url;
    if (sentinel !== undefined) return `${hosts} (Sentinels of "${sentinel.masterName}")`;
    return this.isCluster ? `${hosts} (cluster)` : hosts;
  }

  /** Why this server cannot be used in this way, by its answer to INFO; undefined if it can. */
  unsuitable(info: string): string | undefined {
    const mode = fieldOf(info, 'redis_mode');
    const version = fieldOf(info, 'redis_version') ?? '';
    if (mode === 'sentinel')
      return 'It is a Sentinel. Begin REDIS_URL with redis-sentinel:// and add ?sentinelMasterId=NAME.';
    if (mode === 'cluster' && !this.isCluster)
      return 'It is a node of a cluster. Begin REDIS_URL with redis-cluster://.';
    if (mode !== 'cluster' && this.isCluster)
      return 'It is not a node of a cluster. Begin REDIS_URL with redis:// or redis-sentinel://.';
    if (this.isCluster && Number.parseInt(version, 10) < CLUSTER_VERSION_MIN)
      return `It has version ${version}. In a cluster the hub needs Redis 7 or newer, for sharded channels.`;
    return undefined;
  }
}

/** A field in the answer to INFO. */
export function fieldOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim();
}

/** The hosts of a REDIS_URL. Throws a RangeError if it is wrong. */
export function redisHosts(url: string): readonly RedisHost[] {
  return parseRedisUrl(url).hosts;
}
