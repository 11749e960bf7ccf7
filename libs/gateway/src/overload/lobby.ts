/**
 * Counts the connections that have not introduced themselves yet, and how fast they come, so that strangers can neither make us hold more than a bounded
 * number of them nor keep us busy with refusing them, and none of them can take all the places.
 */
import type { GatewayLimits } from '../gateway-limits.js';
import { addressKey } from './attempt-limiter.js';

/** A connection inside, as its address holds it. */
interface Guest {
  readonly key: string;
  readonly expel: () => void;
}

export class Lobby {
  #size = 0;
  /** The oldest of each address first. */
  readonly #guests = new Map<string, Set<Guest>>();
  /** Connections that may come now without waiting: at most as many as the lobby holds, so that a fleet may come back at once. */
  #allowance: number;
  #countedAt: number;

  constructor(
    private readonly limits: Pick<
      GatewayLimits,
      'unprovenConnectionsMax' | 'unprovenPerAddressMax' | 'connectionsPerSecondMax'
    >,
    private readonly clock: { now(): number },
  ) {
    this.#allowance = limits.unprovenConnectionsMax;
    this.#countedAt = clock.now();
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Undefined when full or too fast; otherwise a function that gives the place back, once however often it is called. `expel` destroys the connection, where
   * its address holds so much of a full lobby that one of another address comes before it.
   */
  enter(address: string | undefined, expel: () => void): (() => void) | undefined {
    this.#allowMore();
    const guest: Guest = { key: addressKey(address ?? ''), expel };
    if (this.#allowance < 1 || !this.#hasRoom(guest.key)) return undefined;
    this.#allowance -= 1;
    this.#add(guest);
    return () => void this.#remove(guest);
  }

  #hasRoom(key: string): boolean {
    const { unprovenConnectionsMax, unprovenPerAddressMax } = this.limits;
    const own = this.#guests.get(key)?.size ?? 0;
    if (own >= unprovenPerAddressMax) return false;
    return this.#size < unprovenConnectionsMax || this.#expelOneOfMoreThan(own + 1);
  }

  /** The oldest of an address that holds the average or more. Where few come from each address no one of them is to blame. */
  #expelOneOfMoreThan(count: number): boolean {
    const average = this.#size / this.#guests.size;
    if (average < 2) return false;
    for (const guests of this.#guests.values()) {
      if (guests.size < average || guests.size <= count) continue;
      const [oldest] = guests;
      if (oldest === undefined) continue;
      this.#remove(oldest);
      oldest.expel();
      return true;
    }
    return false;
  }

  #add(guest: Guest): void {
    const guests = this.#guests.get(guest.key) ?? new Set();
    this.#guests.set(guest.key, guests.add(guest));
    this.#size += 1;
  }

  #remove(guest: Guest): void {
    const guests = this.#guests.get(guest.key);
    if (guests?.delete(guest) !== true) return;
    this.#size -= 1;
    if (guests.size === 0) this.#guests.delete(guest.key);
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
