/** Where Redis is and how its connections are secured, and its errors without what must not be logged. */
import type { RedisOptions } from 'ioredis';
import { tlsConnectorTo } from './tls-connector.js';

export interface RedisAddress {
  /** `redis://` or, for TLS, `rediss://`; with the user's name and password where Redis asks for them. */
  readonly url: string;
  /** Certificates in PEM that a `rediss://` server is checked against, instead of those of the system. */
  readonly ca?: string | undefined;
}

/** Longest time between two tries to connect again, ms; the first come at once. */
export const RECONNECT_DELAY_MAX_MS = 2_000;

/** For every connection. */
export const persistent = {
  retryStrategy: (attempt: number): number => Math.min(attempt * 50, RECONNECT_DELAY_MAX_MS),
};

/** A server that owes an answer and sends nothing for this long is away, ms. The connection is made again. */
const SILENCE_MAX_MS = 2_500;

/** For every connection but one that blocks: that one waits for its answer by design. */
export const impatient: Pick<RedisOptions, 'socketTimeout'> = { socketTimeout: SILENCE_MAX_MS };

export function tlsOf({ url, ca }: RedisAddress): Pick<RedisOptions, 'tls' | 'Connector'> {
  return url.startsWith('rediss:') ? { tls: {}, Connector: tlsConnectorTo(url, ca) } : {};
}

/** The password is never a part of it. */
export function placeOf({ url }: RedisAddress): string {
  return new URL(url).host;
}

/** ioredis adds the refused command with its arguments to an error: the password of AUTH, or a message of ours. */
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
