/**
 * Limits how many sessions per second greet their devices. A fleet that reconnects is admitted at
 * once but greeted gradually, so that calls to ready devices do not wait behind thousands of
 * listings. Without calls the pace is higher. [xiaozhi §9, 32]
 */
import type { Clock } from '@flotilla/session';
import type { GatewayLimits } from '../gateway-limits.js';
import { TokenBucket } from './token-bucket.js';
import type { BucketRate } from './token-bucket.js';

/** Interval of the steps, ms: short in comparison with a round trip over Wi-Fi. */
const STEP_MS = 10;

type PaceLimits = Pick<GatewayLimits, 'discoveriesPerSecondMax' | 'discoveriesPerSecondQuietMax' | 'quietAfterMs'>;

export class DiscoveryPace {
  readonly #waiting = new Set<() => void>();
  readonly #bucket: TokenBucket;
  /** Time of the last call to a device. */
  #calledAt = Number.NEGATIVE_INFINITY;
  #cancelStep: (() => void) | undefined;

  constructor(
    private readonly limits: PaceLimits,
    private readonly clock: Clock,
  ) {
    this.#bucket = new TokenBucket(this.#rate(clock.now()), clock.now());
  }

  /** Sessions that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Notes a call to a device: for a while greetings are slower. */
  called(): void {
    this.#calledAt = this.clock.now();
  }

  /** Runs `begin` in its turn, at once if the queue is empty. The returned function cancels it. */
  enqueue(begin: () => void): () => void {
    if (this.#refill() >= 1 && this.#waiting.size === 0) {
      this.#bucket.take(1);
      begin();
      return () => undefined;
    }
    this.#waiting.add(begin);
    this.#cancelStep ??= this.clock.setTimer(STEP_MS, () => this.#step());
    return () => this.#waiting.delete(begin);
  }

  stop(): void {
    this.#cancelStep?.();
    this.#cancelStep = undefined;
    this.#waiting.clear();
  }

  /** The burst is two steps, so that the pace holds although timers fire late. */
  #rate(now: number): BucketRate {
    const { discoveriesPerSecondMax, discoveriesPerSecondQuietMax, quietAfterMs } = this.limits;
    const perSecond = now - this.#calledAt < quietAfterMs ? discoveriesPerSecondMax : discoveriesPerSecondQuietMax;
    return { burst: Math.max(1, (2 * STEP_MS * perSecond) / 1_000), perSecond };
  }

  #step(): void {
    this.#cancelStep = undefined;
    // Refilled once: a slow step must not earn more turns while it runs.
    let allowed = Math.floor(this.#refill());
    for (const begin of this.#waiting) {
      if (allowed < 1) break;
      allowed -= 1;
      this.#bucket.take(1);
      this.#waiting.delete(begin);
      begin();
    }
    if (this.#waiting.size > 0) this.#cancelStep ??= this.clock.setTimer(STEP_MS, () => this.#step());
  }

  #refill(): number {
    const now = this.clock.now();
    return this.#bucket.refill(this.#rate(now), now);
  }
}
