/** One timer for many deadlines: moved only to an earlier time, and left alone when deadlines go away. So a call that is answered in time sets none. */
import type { Clock } from './clock.js';

/** Milliseconds. Timers of most platforms end at 24 days; beyond this one it fires early and is set again. */
const delayMsMax = 3_600_000;

export class LazyTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #firesAt = Infinity;
  #cancel: (() => void) | undefined;

  /** `wake` may come before the time that was asked for; it then has to ask again. */
  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Makes sure that it wakes no later than at `at` (ms since the Unix epoch; Infinity: no need). */
  wakeBy(at: number): void {
    if (at >= this.#firesAt) return;
    this.stop();
    const now = this.#clock.now();
    const delayMs = Math.min(Math.max(0, at - now), delayMsMax);
    this.#firesAt = now + delayMs;
    this.#cancel = this.#clock.setTimer(delayMs, () => {
      this.#firesAt = Infinity;
      this.#cancel = undefined;
      this.#wake();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#firesAt = Infinity;
  }
}
