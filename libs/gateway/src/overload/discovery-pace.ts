/**
 * Limits how many sessions per second greet their devices. A fleet that reconnects is admitted at
 * once but greeted gradually, so that calls to ready devices do not wait behind thousands of
 * listings. Without calls the pace is higher. [xiaozhi §9, 32]
 */
import type { Clock } from '@flotilla/session';
import type { GatewayLimits } from '../gateway-limits.js';

/** Interval of the steps, ms: short in comparison with a round trip over Wi-Fi. */
const STEP_MS = 10;

type PaceLimits = Pick<GatewayLimits, 'discoveriesPerSecondMax' | 'discoveriesPerSecondQuietMax' | 'quietAfterMs'>;

export class DiscoveryPace {
  readonly #waiting = new Set<() => void>();
  #allowance: number;
  #filledAt: number;
  /** Time of the last call to a device. */
  #calledAt = Number.NEGATIVE_INFINITY;
  #cancelStep: (() => void) | undefined;

  constructor(
    private readonly limits: PaceLimits,
    private readonly clock: Clock,
  ) {
    this.#filledAt = clock.now();
    this.#allowance = burstOf(this.#perSecond(this.#filledAt));
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
    this.#fill();
    if (this.#waiting.size === 0 && this.#allowance >= 1) {
      this.#allowance -= 1;
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

  #perSecond(now: number): number {
    const { discoveriesPerSecondMax, discoveriesPerSecondQuietMax, quietAfterMs } = this.limits;
    return now - this.#calledAt < quietAfterMs ? discoveriesPerSecondMax : discoveriesPerSecondQuietMax;
  }

  #step(): void {
    this.#cancelStep = undefined;
    this.#fill();
    for (const begin of this.#waiting) {
      if (this.#allowance < 1) break;
      this.#allowance -= 1;
      this.#waiting.delete(begin);
      begin();
    }
    if (this.#waiting.size > 0) this.#cancelStep ??= this.clock.setTimer(STEP_MS, () => this.#step());
  }

  #fill(): void {
    const now = this.clock.now();
    const perSecond = this.#perSecond(now);
    const gained = (Math.max(0, now - this.#filledAt) * perSecond) / 1_000;
    this.#allowance = Math.min(burstOf(perSecond), this.#allowance + gained);
    this.#filledAt = now;
  }
}

/** The burst: two steps, so that the pace holds although timers fire late. */
function burstOf(perSecond: number): number {
  return Math.max(1, (2 * STEP_MS * perSecond) / 1_000);
}
