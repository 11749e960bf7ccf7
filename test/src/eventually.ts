/** Waits for a condition in another process, and reports the last value when it never holds. */
import { setTimeout as pause } from 'node:timers/promises';

/** Time between two checks, ms. */
const LOOK_EVERY_MS = 50;

/** Resolves with the first value that `holds`; rejects after `withinMs` with the last one. */
export async function eventually<Value>(
  look: () => Promise<Value> | Value,
  holds: (value: Value) => boolean,
  withinMs = 30_000,
): Promise<Value> {
  const until = Date.now() + withinMs;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > until)
      throw new Error(`The condition did not hold within ${withinMs} ms. Last value: ${JSON.stringify(value)}`);
    await pause(LOOK_EVERY_MS);
  }
}
