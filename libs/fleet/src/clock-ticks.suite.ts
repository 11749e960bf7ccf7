/** Ticks on the clock of a spec, for all its processes. The newest one works all of them. */
import type { Tick, TickQueue } from '@flotilla/bus';
import type { FleetClock } from './fleet-clock.suite.js';

type Handler = (tick: Tick) => Promise<void>;

export class ClockTicks implements TickQueue {
  readonly #clock: FleetClock;
  readonly #waiting = new Map<string, Tick>();
  readonly #repeats = new Map<string, () => void>();
  #handler: Handler | undefined;

  constructor(clock: FleetClock) {
    this.#clock = clock;
  }

  add(tick: Tick, delayMs = 0): Promise<void> {
    if (delayMs > 0) this.#clock.setTimer(delayMs, () => this.#due(tick));
    else this.#due(tick);
    return Promise.resolve();
  }

  repeat(tick: Tick, everyMs: number): Promise<void> {
    const key = keyOf(tick);
    const wait = (): void => {
      this.#repeats.set(
        key,
        this.#clock.setTimer(everyMs, () => {
          this.#due(tick);
          wait();
        }),
      );
    };
    if (!this.#repeats.has(key)) wait();
    return Promise.resolve();
  }

  work(handler: Handler): Promise<void> {
    this.#handler = handler;
    for (const tick of this.#waiting.values()) this.#workOn(tick, handler);
    return Promise.resolve();
  }

  rest(): Promise<void> {
    this.#handler = undefined;
    return Promise.resolve();
  }

  depth(): Promise<number> {
    return Promise.resolve(this.#waiting.size);
  }

  /** An equal waiting tick is not added twice. */
  #due(tick: Tick): void {
    if (this.#waiting.has(keyOf(tick))) return;
    this.#waiting.set(keyOf(tick), tick);
    if (this.#handler !== undefined) this.#workOn(tick, this.#handler);
  }

  #workOn(tick: Tick, handler: Handler): void {
    const work = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#waiting.delete(keyOf(tick));
      return handler(tick);
    });
    // A handler that fails drops its tick, as the queue of the hub does.
    void this.#clock.counts(work).catch(() => undefined);
  }
}

function keyOf(tick: Tick): string {
  return tick.kind === 'job' ? `job ${tick.jobId}` : tick.kind;
}
