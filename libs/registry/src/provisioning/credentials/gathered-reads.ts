/**
 * Reads by id, many in one statement: requests that come while a statement runs share the next one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RegistryError } from '../../registry-error.js';

/** Ids of one statement. */
const IDS_PER_READ = 1_000;
/** Pause between two small statements. A statement costs both sides as much as ten ids. */
const PAUSE_MS = 10;

interface Asked<Value> {
  readonly value: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

export class GatheredReads<Value> {
  #waiting = new Map<string, Asked<Value>>();
  #isRunning = false;

  /** `readMany` finds a value for each id. */
  constructor(private readonly readMany: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {}

  get(id: string): Promise<Value> {
    const asked = this.#waiting.get(id) ?? makeAsked<Value>();
    this.#waiting.set(id, asked);
    if (!this.#isRunning) {
      this.#isRunning = true;
      // Takes all requests of this turn of the event loop along.
      setImmediate(() => void this.#run());
    }
    return asked.value;
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, IDS_PER_READ);
      for (const [id] of batch) this.#waiting.delete(id);
      await this.#answer(batch);
      if (this.#waiting.size > 0 && this.#waiting.size < IDS_PER_READ) await sleep(PAUSE_MS);
    }
    this.#isRunning = false;
  }

  async #answer(batch: readonly (readonly [string, Asked<Value>])[]): Promise<void> {
    try {
      const values = await this.readMany(batch.map(([id]) => id));
      for (const [id, { resolve, reject }] of batch) {
        const value = values.get(id);
        if (value === undefined) reject(new RegistryError('DATABASE_REFUSED', `Nothing was read for ${id}.`));
        else resolve(value);
      }
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    }
  }
}

function makeAsked<Value>(): Asked<Value> {
  let resolve: Asked<Value>['resolve'] = () => undefined;
  let reject: Asked<Value>['reject'] = () => undefined;
  const value = new Promise<Value>((...settle) => {
    [resolve, reject] = settle;
  });
  return { value, resolve, reject };
}
