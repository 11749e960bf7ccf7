/** Errors of Redis without secrets, and how long a connection waits. */
import type { RedisOptions } from 'ioredis';

/**
 * A server that leaves an answer pending for this long is unreachable, ms. The client reconnects.
 */
const SILENCE_MAX_MS = 2_500;

/** For every connection except a blocking one, which waits for its answer by design. */
export const impatient: Pick<RedisOptions, 'socketTimeout'> = { socketTimeout: SILENCE_MAX_MS };

/** For a worker of BullMQ: its blocking connection waits up to 10 s for work. */
export const patient: Pick<RedisOptions, 'socketTimeout'> = { socketTimeout: 15_000 };

/** The server does not serve the data any more: another one does, or will. */
export function isOfFormerMaster(error: Error): boolean {
  return /^(MOVED|ASK|READONLY|CLUSTERDOWN|MASTERDOWN|UNBLOCKED) /.test(error.message);
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
