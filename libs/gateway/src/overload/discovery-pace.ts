/**
 * Lets sessions greet their devices at a steady pace. A fleet that comes back at once is let in at once, but asked who it is by and by, so that calls to devices that are
 * ready do not wait behind thousands of greetings, listings and rows. Where nobody calls, nobody waits, and the pace is quicker: a step of it is what the first call may
 * have to wait for. [xiaozhi §9, 32]
 */
import type { Clock } from '@flotilla/session';
import type { GatewayLimits } from '../gateway-limits.js';

/** How often waiting ones are let go on, ms: short beside a round trip over Wi-Fi. */
const STEP_MS = 10;

type PaceLimits = Pick<GatewayLimits, 'discoveriesPerSecondMax' | 'discoveriesPerSecondQuietMax' | 'quietAfterMs'>;

export class DiscoveryPace {
  readonly #waiting = new Set<() => void>();
  #allowance: number;
  #filledAt: number;
  /** When a device was called last. */
  #calledAt = Number.NEGATIVE_INFINITY;
  #cancelStep: (() => void) | undefined;

  constructor(
    private readonly limits: PaceLimits,
    private readonly clock: Clock,
  ) {
    this.#filledAt = clock.now();
    this.#allowance = burstOf(this.#perSecond(this.#filledAt));
  }

  /** Sessions whose turn is still to come. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A device is called: from now on greetings leave room. */
  called(): void {
    this.#calledAt = this.clock.now();
  }

  /** Runs `begin` when its turn has come, at once where nobody waits. The returned function gives the turn up; late it does nothing. */
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

/** What may go at once: two steps' worth, so that the pace holds although a timer comes late. */
function burstOf(perSecond: number): number {
  return Math.max(1, (2 * STEP_MS * perSecond) / 1_000);
}
