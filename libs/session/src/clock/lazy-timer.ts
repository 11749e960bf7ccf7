/**
 * One timer for many deadlines. It moves only to an earlier time and stays when deadlines
 * disappear, so a call that is answered in time sets no timer.
 */
import type { Clock } from './clock.js';

/** Milliseconds. Platform timers end at 24 days; this one fires early and is set again. */
const delayMsMax = 3_600_000;

export class LazyTimer {
  #firesAt = Infinity;
  #cancel: (() => void) | undefined;
  /** The time while `wake` runs. */
  #reachedAt: number | undefined;

  /**
   * `wake` receives the time that was reached, which is later than the clock if that was set back
   * meanwhile. It may run early; it then must call `wakeBy` again.
   */
  constructor(
    private readonly clock: Clock,
    private readonly wake: (reachedAt: number) => void,
  ) {}

  /** Ensures that `wake` runs no later than `at` (ms since the epoch; Infinity: no deadline). */
  wakeBy(at: number): void {
    if (at >= this.#firesAt) return;
    this.stop();
    const now = this.#reachedAt ?? this.clock.now();
    const delayMs = Math.min(Math.max(0, at - now), delayMsMax);
    const firesAt = now + delayMs;
    this.#firesAt = firesAt;
    this.#cancel = this.clock.setTimer(delayMs, () => {
      this.#firesAt = Infinity;
      this.#cancel = undefined;
      this.#reachedAt = Math.max(this.clock.now(), firesAt);
      this.wake(this.#reachedAt);
      this.#reachedAt = undefined;
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#firesAt = Infinity;
  }
}
