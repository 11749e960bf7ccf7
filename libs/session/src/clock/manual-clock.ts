/** A clock for tests that moves only by `advance`, which runs due timers in order. */
import type { Clock } from './clock.js';

interface ManualTimer {
  dueAt: number;
  readonly wake: () => void;
}

export class ManualClock implements Clock {
  readonly #timers = new Set<ManualTimer>();
  #now: number;

  /** `now` is in ms since the Unix epoch. */
  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimer(delayMs: number, wake: () => void): () => void {
    const timer: ManualTimer = { dueAt: this.#now + Math.max(0, delayMs), wake };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The number of pending timers. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Advances the time. Timers that are set meanwhile and become due run as well. */
  advance(byMs: number): void {
    const until = this.#now + byMs;
    for (let next = this.#nextDue(until); next !== undefined; next = this.#nextDue(until)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.dueAt);
      next.wake();
    }
    this.#now = until;
  }

  /** Sets the time, as an operator or NTP does. The delays of pending timers stay as they are. */
  step(byMs: number): void {
    this.#now += byMs;
    for (const timer of this.#timers) timer.dueAt += byMs;
  }

  #nextDue(until: number): ManualTimer | undefined {
    let next: ManualTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= until && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  }
}
