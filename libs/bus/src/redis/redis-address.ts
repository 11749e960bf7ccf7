/** The address of Redis, the security of its connections, and its errors without secrets. */
import type { RedisOptions } from 'ioredis';
import { tlsConnectorTo } from './tls-connector.js';

export interface RedisAddress {
  /** `redis://` or, for TLS, `rediss://`, with user name and password if Redis requires them. */
  readonly url: string;
  /** CA certificates (PEM) for a `rediss://` server, instead of the system's. */
  readonly ca?: string | undefined;
}

/** Longest time between two attempts to reconnect, ms; the first follow at once. */
export const RECONNECT_DELAY_MAX_MS = 2_000;

/** For every connection. */
export const persistent = {
  retryStrategy: (attempt: number): number => Math.min(attempt * 50, RECONNECT_DELAY_MAX_MS),
};

/**
 * A server that leaves an answer pending for this long is unreachable, ms. The client reconnects.
 */
const SILENCE_MAX_MS = 2_500;

/** For every connection except a blocking one, which waits for its answer by design. */
export const impatient: Pick<RedisOptions, 'socketTimeout'> = { socketTimeout: SILENCE_MAX_MS };

export function tlsOf({ url, ca }: RedisAddress): Pick<RedisOptions, 'tls' | 'Connector'> {
  return url.startsWith('rediss:') ? { tls: {}, Connector: tlsConnectorTo(url, ca) } : {};
}

/** Does not contain the password. */
export function placeOf({ url }: RedisAddress): string {
  return new URL(url).host;
}

/**
 * ioredis adds the rejected command with its arguments to an error: the password of AUTH, or a
 * message of the hub.
 */
export function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error) || !('command' in error)) return error;
  const plain = new Error(error.message);
  plain.name = error.name;
  if (error.stack !== undefined) plain.stack = error.stack;
  return plain;
}

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
