/**
 * Counts over many devices that many ask for: each is used again for a while that grows with what it cost, and counted anew in the background, so that who
 * asks all the time never waits for it. What costs little is counted nearly each time.
 */
import { BoundedCache } from './bounded-cache.js';

/** A count is renewed when it is this many times as old as it took: counting keeps PostgreSQL busy a twentieth of the time at most, for each key. */
const RENEWED_TIMES = 19;
/** Older than this many times what it took, it is not answered any more. */
const ANSWERED_TIMES = 100;
/** Nor older than this, ms, however long it took. */
const ANSWERED_MS_MAX = 5_000;
/** Filters that are counted at once: what does not fit is counted each time. */
const COUNTS_MAX = 500;

interface Count<Value> {
  readonly value: Promise<Value>;
  readonly beganAt: number;
  /** Both Infinity while it runs. */
  renewedAt: number;
  answeredUntil: number;
  isRenewing: boolean;
}

export class RenewedCounts<Value> {
  readonly #counts = new BoundedCache<string, Count<Value>>(COUNTS_MAX);

  /** `now`: milliseconds that never go back. */
  constructor(private readonly now: () => number) {}

  /** As `count` said at most five seconds ago for an equal key, or says now. One that fails is forgotten. */
  of(key: string, count: () => Promise<Value>): Promise<Value> {
    const known = this.#counts.get(key);
    const now = this.now();
    if (known === undefined || now >= known.answeredUntil) return this.#begin(key, count).value;
    if (now >= known.renewedAt && !known.isRenewing) {
      known.isRenewing = true;
      void this.#renew(key, count);
    }
    return known.value;
  }

  #begin(key: string, count: () => Promise<Value>): Count<Value> {
    const begun = this.#start(count);
    this.#counts.set(key, begun);
    begun.value.catch(() => this.#forget(key, begun));
    return begun;
  }

  /** Takes the place of the one before as soon as it is there. */
  async #renew(key: string, count: () => Promise<Value>): Promise<void> {
    const former = this.#counts.get(key);
    const begun = this.#start(count);
    try {
      await begun.value;
      if (this.#counts.get(key) === former) this.#counts.set(key, begun);
    } catch {
      // Whoever asks next counts, and hears what is wrong.
      this.#forget(key, former);
    }
  }

  #start(count: () => Promise<Value>): Count<Value> {
    const beganAt = this.now();
    const timed = async (): Promise<Value> => {
      const value = await count();
      const took = this.now() - beganAt;
      begun.renewedAt = beganAt + took * (RENEWED_TIMES + 1);
      begun.answeredUntil = beganAt + Math.max(took, Math.min(took * ANSWERED_TIMES, ANSWERED_MS_MAX));
      return value;
    };
    const begun: Count<Value> = {
      value: Promise.resolve().then(timed),
      beganAt,
      renewedAt: Infinity,
      answeredUntil: Infinity,
      isRenewing: false,
    };
    return begun;
  }

  #forget(key: string, count: Count<Value> | undefined): void {
    if (count !== undefined && this.#counts.get(key) === count) this.#counts.delete(key);
  }
}
