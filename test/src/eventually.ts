/** Waits for a condition in another process, and reports the last value when it never holds. */
import { setTimeout as pause } from 'node:timers/promises';
import { PATIENCE } from './patience.js';

/** Time between two checks, ms. */
const LOOK_EVERY_MS = 50;

/**
 * Resolves with the first value that `holds`. Rejects with the last one after `withinMs`, times the
 * patience of the suite.
 */
export async function eventually<Value>(
  look: () => Promise<Value> | Value,
  holds: (value: Value) => boolean,
  withinMs = 30_000,
): Promise<Value> {
  const limitMs = withinMs * PATIENCE;
  const until = Date.now() + limitMs;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > until)
      throw new Error(`The condition did not hold within ${limitMs} ms. Last value: ${JSON.stringify(value)}`);
    await pause(LOOK_EVERY_MS);
  }
}
