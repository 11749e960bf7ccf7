/**
 * Counts over many devices that many callers request. A count is used again for a time that grows
 * with its cost, and is renewed in the background, so that frequent callers never wait. Cheap
 * counts are renewed almost every time.
 */
import { LRUCache } from 'lru-cache';

/**
 * A count is renewed at this many times the duration of its query, which keeps PostgreSQL busy for
 * 5 % of the time, but at the latest when half of the time is over in which it is used.
 */
const RENEWED_TIMES = 19;
/** A count older than this many times its duration is not used. */
const ANSWERED_TIMES = 100;
/** A count older than this, ms, is not used. */
const ANSWERED_MS_MAX = 5_000;
/** Filters with a cached count. Others are counted each time. */
const COUNTS_MAX = 500;

interface Count<Value> {
  readonly value: Promise<Value>;
  readonly beganAt: number;
  /** Infinity while the query runs, like `answeredUntil`. */
  renewedAt: number;
  answeredUntil: number;
  isRenewing: boolean;
}

export class RenewedCounts<Value> {
  readonly #counts = new LRUCache<string, Count<Value>>({ max: COUNTS_MAX });

  /** `now` returns monotonic milliseconds. */
  constructor(private readonly now: () => number) {}

  /**
   * Returns a count of at most five seconds ago for an equal key, or counts now. A failed count is
   * not kept.
   */
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

  /** Counts now, also for later callers. */
  countNow(key: string, count: () => Promise<Value>): Promise<Value> {
    return this.#begin(key, count).value;
  }

  #begin(key: string, count: () => Promise<Value>): Count<Value> {
    const begun = this.#start(count);
    this.#counts.set(key, begun);
    begun.value.catch(() => this.#forget(key, begun));
    return begun;
  }

  /** Replaces the previous count when the new one is known. */
  async #renew(key: string, count: () => Promise<Value>): Promise<void> {
    const former = this.#counts.get(key);
    const begun = this.#start(count);
    try {
      await begun.value;
      if (this.#counts.get(key) === former) this.#counts.set(key, begun);
    } catch {
      // The next caller counts again and receives the error.
      this.#forget(key, former);
    }
  }

  #start(count: () => Promise<Value>): Count<Value> {
    const beganAt = this.now();
    const timed = async (): Promise<Value> => {
      const value = await count();
      const took = this.now() - beganAt;
      const answeredMs = Math.max(took, Math.min(took * ANSWERED_TIMES, ANSWERED_MS_MAX));
      begun.renewedAt = beganAt + Math.min(took * (RENEWED_TIMES + 1), answeredMs / 2);
      begun.answeredUntil = beganAt + answeredMs;
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
