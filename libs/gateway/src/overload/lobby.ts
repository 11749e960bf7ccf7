/**
 * Counts the connections that have not introduced themselves yet, and how fast they come, so that strangers can neither make us hold more than a bounded
 * number of them nor keep us busy with refusing them, and none of them can take all the places.
 */
import type { GatewayLimits } from '../gateway-limits.js';
import { addressKey } from './attempt-limiter.js';

export class Lobby {
  #size = 0;
  readonly #sizeByAddress = new Map<string, number>();
  /** Connections that may come now without waiting: at most as many as the lobby holds, so that a fleet may come back at once. */
  #allowance: number;
  #countedAt: number;

  constructor(
    private readonly limits: Pick<GatewayLimits, 'unprovenConnectionsMax' | 'unprovenPerAddressMax' | 'connectionsPerSecondMax'>,
    private readonly clock: { now(): number },
  ) {
    this.#allowance = limits.unprovenConnectionsMax;
    this.#countedAt = clock.now();
  }

  get size(): number {
    return this.#size;
  }

  /** Undefined when full or too fast; otherwise a function that gives the place back, once however often it is called. */
  enter(address: string | undefined): (() => void) | undefined {
    this.#allowMore();
    const { unprovenConnectionsMax, unprovenPerAddressMax } = this.limits;
    const key = addressKey(address ?? '');
    const isRoom = this.#size < unprovenConnectionsMax && (this.#sizeByAddress.get(key) ?? 0) < unprovenPerAddressMax;
    if (!isRoom || this.#allowance < 1) return undefined;
    this.#allowance -= 1;
    this.#add(key, 1);
    let isInside = true;
    return () => {
      if (isInside) this.#add(key, -1);
      isInside = false;
    };
  }

  #add(key: string, change: 1 | -1): void {
    this.#size += change;
    const count = (this.#sizeByAddress.get(key) ?? 0) + change;
    if (count === 0) this.#sizeByAddress.delete(key);
    else this.#sizeByAddress.set(key, count);
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
