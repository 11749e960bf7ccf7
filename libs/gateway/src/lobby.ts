/**
 * Counts the connections that have not introduced themselves yet, and how fast they come, so that strangers can neither make us hold more than a bounded
 * number of them nor keep us busy with refusing them.
 */
import type { GatewayLimits } from './gateway-limits.js';

export class Lobby {
  #size = 0;
  /** Connections that may come now without waiting: at most as many as the lobby holds, so that a fleet may come back at once. */
  #allowance: number;
  #countedAt: number;

  constructor(
    private readonly limits: Pick<GatewayLimits, 'unprovenConnectionsMax' | 'connectionsPerSecondMax'>,
    private readonly clock: { now(): number },
  ) {
    this.#allowance = limits.unprovenConnectionsMax;
    this.#countedAt = clock.now();
  }

  get size(): number {
    return this.#size;
  }

  /** Undefined when full or too fast; otherwise a function that gives the place back, once however often it is called. */
  enter(): (() => void) | undefined {
    this.#allowMore();
    if (this.#size >= this.limits.unprovenConnectionsMax || this.#allowance < 1) return undefined;
    this.#size += 1;
    this.#allowance -= 1;
    let isInside = true;
    return () => {
      if (isInside) this.#size -= 1;
      isInside = false;
    };
  }

  #allowMore(): void {
    const now = this.clock.now();
    // A clock that is set back brings nothing and takes nothing.
    const elapsedMs = Math.max(0, now - this.#countedAt);
    this.#countedAt = now;
    const { unprovenConnectionsMax, connectionsPerSecondMax } = this.limits;
    this.#allowance = Math.min(unprovenConnectionsMax, this.#allowance + (elapsedMs * connectionsPerSecondMax) / 1000);
  }
}
