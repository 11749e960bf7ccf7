/** Waiting for something that another process does: asks until it holds, and says what was last seen when it never does. */
import { setTimeout as pause } from 'node:timers/promises';

/** Between two looks, ms. */
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
      throw new Error(`Did not come about within ${withinMs} ms; last seen: ${JSON.stringify(value)}`);
    await pause(LOOK_EVERY_MS);
  }
}
