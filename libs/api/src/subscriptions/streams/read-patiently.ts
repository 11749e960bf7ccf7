/**
 * A read of a subscription, which lasts for days: a failover of PostgreSQL must not end it, because
 * its client has a connection and sees no reason to subscribe again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { RegistryError } from '@flotilla/registry';

/** Ms between two reads while PostgreSQL is away; a failover takes seconds. */
const readAgainMs = 1_000;

/** Reads again until PostgreSQL answers or the subscription ends. Throws all other errors. */
export async function readPatiently<Value>(signal: AbortSignal, read: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RegistryError && error.code === 'DATABASE_UNAVAILABLE')) throw error;
      await pause(readAgainMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}
