/**
 * The rate limiter of the gateway: a bucket that refills at a steady rate up to its burst and can
 * run into debt. The caller passes the time in ms, which may be set back.
 */

export interface BucketRate {
  /** Tokens of a full bucket. */
  readonly burst: number;
  readonly perSecond: number;
}

export function perMinute(max: number): BucketRate {
  return { burst: max, perSecond: max / 60 };
}

export class TokenBucket {
  #tokens: number;
  #filledAt: number;

  constructor({ burst }: BucketRate, now: number) {
    this.#tokens = burst;
    this.#filledAt = now;
  }

  /** Refills the bucket and returns its tokens. The rate may differ from call to call. */
  refill({ burst, perSecond }: BucketRate, now: number): number {
    const seconds = Math.max(0, now - this.#filledAt) / 1_000;
    this.#filledAt = now;
    this.#tokens = Math.min(burst, this.#tokens + seconds * perSecond);
    return this.#tokens;
  }

  /** Takes one token. Returns false if the bucket has less than one. */
  takeOne(rate: BucketRate, now: number): boolean {
    if (this.refill(rate, now) < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes tokens out, also if there are too few; a negative number puts them back. */
  take(tokens: number): void {
    this.#tokens -= tokens;
  }
}
