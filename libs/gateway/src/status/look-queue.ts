/**
 * Sessions whose state is due, first in, first out. A job over a fleet leaves thousands: an array
 * would move them all for each that is taken.
 */
import type { WatchedSession } from './watched-session.js';

/** The status calls of one session: one that follows a set, and one that waits for its turn. */
export interface StatusPlan {
  /** Undefined when it has ended: the plan may wait for minutes, and would keep it in memory. */
  session: WatchedSession | undefined;
  isPlanned: boolean;
  isSetAgain: boolean;
  /** When the call after a set is due, ms since the Unix epoch. */
  at: number;
  /** How often it may still be put off because the device is busy. */
  left: number;
  /** Why it waits in the queue; undefined: not at all. */
  due: 'planned' | 'after_set' | undefined;
}

export class LookQueue {
  #adding: StatusPlan[] = [];
  /** Latest first. */
  #taking: StatusPlan[] = [];

  /** Drops the sessions that have ended meanwhile, and returns the next one, which stays. */
  dropEnded(): StatusPlan | undefined {
    for (;;) {
      if (this.#taking.length === 0) {
        this.#taking = this.#adding.reverse();
        this.#adding = [];
      }
      const plan = this.#taking.at(-1);
      if (plan === undefined || plan.session !== undefined) return plan;
      this.#taking.pop();
    }
  }

  /** A session waits once, however often it becomes due: under load its turn is minutes away. */
  add(plan: StatusPlan, kind: NonNullable<StatusPlan['due']>): void {
    if (plan.due === undefined) this.#adding.push(plan);
    if (plan.due !== 'after_set') plan.due = kind;
  }

  take(): StatusPlan | undefined {
    const plan = this.dropEnded();
    if (plan !== undefined) this.#taking.pop();
    return plan;
  }

  clear(): void {
    this.#adding = [];
    this.#taking = [];
  }
}
