/**
 * Time for specs over a real PostgreSQL. It passes only when a spec lets it pass, and only while no
 * statement and no tick is under way: for the specs, PostgreSQL takes no time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ManualClock } from '@flotilla/session';
import { expect } from 'vitest';

/** Time that passes at once, ms: what a timer starts is through before the next portion. */
const portionMs = 10;
/** Time that passes between two polls, ms. */
const pollMs = 50;
/** Turns of the event loop without a statement: a batch of 500 calls is handed over in 20. */
const quietTurns = 30;
/** Longer than a spec takes. */
const aheadMs = 3_600_000;
/** Real time that a wait of a spec may take, ms. */
const patienceMs = 18_000;

export class FleetClock extends ManualClock {
  #underWay = 0;
  #onIdle: (() => void)[] = [];

  /** Starts ahead of the real time, with which PostgreSQL dates new devices: jobs are younger. */
  constructor() {
    super(Date.now() + aheadMs);
  }

  /** While `work` is under way, no time passes. */
  async counts<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const wake of this.#onIdle.splice(0)) wake();
    }
  }

  /** The stores of a registry, with their statements counted. */
  counted<Stores extends object>(stores: Stores): Stores {
    const entries = Object.entries(stores).map(([name, store]: [string, unknown]) => [
      name,
      typeof store === 'object' && store !== null ? this.#countedStore(store) : store,
    ]);
    return Object.fromEntries(entries) as Stores;
  }

  #countedStore(store: object): object {
    return new Proxy(store, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]): unknown => {
          const result: unknown = method.apply(target, args);
          return result instanceof Promise ? this.counts(result) : result;
        };
      },
    });
  }

  /** Lets so much time pass, and waits for what it starts. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= portionMs) {
      await this.#quiet();
      this.advance(Math.min(left, portionMs));
    }
    await this.#quiet();
  }

  /** `expect.poll`, with time that passes between two polls. */
  until<Value>(read: () => Value | Promise<Value>): ReturnType<typeof expect.poll<Value>> {
    let isFirst = true;
    const poll = async (): Promise<Value> => {
      if (!isFirst) await this.pass(pollMs);
      isFirst = false;
      return read();
    };
    return expect.poll(poll, { timeout: patienceMs, interval: 1 });
  }

  /** Lets time pass until `work` is done. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    const since = performance.now();
    let isDone = false;
    const end = (): void => {
      isDone = true;
    };
    void work.then(end, end);
    while (!isDone && performance.now() - since < patienceMs) await this.pass(portionMs);
    if (!isDone) throw new TypeError('The awaited work did not end.');
    return work;
  }

  async #quiet(): Promise<void> {
    for (let turns = 0; turns < quietTurns; turns += 1) {
      await nextTurn();
      if (this.#underWay === 0) continue;
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
      turns = 0;
    }
  }
}
