/**
 * Devices whose state is due, first in, first out. A job over a fleet leaves ten thousand: an array
 * would move them all for each that is taken.
 */
import type { WatchedSession } from './watched-session.js';

/** `left` is how often the call may still be put off because the device is busy. */
export interface Look {
  readonly session: WatchedSession;
  readonly kind: 'planned' | 'after_set';
  readonly left: number;
}

export class LookQueue {
  #adding: Look[] = [];
  /** Latest first. */
  #taking: Look[] = [];

  get size(): number {
    return this.#adding.length + this.#taking.length;
  }

  add(look: Look): void {
    this.#adding.push(look);
  }

  next(): Look | undefined {
    if (this.#taking.length === 0) {
      this.#taking = this.#adding.reverse();
      this.#adding = [];
    }
    return this.#taking.pop();
  }

  clear(): void {
    this.#adding = [];
    this.#taking = [];
  }
}
