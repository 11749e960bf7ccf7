/**
 * Limits the number and the rate of connections that have not authenticated, in total and per
 * address, so that strangers can neither fill the hub nor keep it busy.
 */
import type { GatewayLimits } from '../gateway-limits.js';
import { addressKey } from './attempt-limiter.js';
import { TokenBucket } from './token-bucket.js';
import type { BucketRate } from './token-bucket.js';

/** A connection in the lobby. */
interface Guest {
  readonly key: string;
  readonly expel: () => void;
}

export class Lobby {
  #size = 0;
  /** By address; the oldest connection of each first. */
  readonly #guests = new Map<string, Set<Guest>>();
  /** The burst is a full lobby, so that a fleet can reconnect at once. */
  readonly #rate: BucketRate;
  readonly #bucket: TokenBucket;

  constructor(
    private readonly limits: Pick<
      GatewayLimits,
      'unprovenConnectionsMax' | 'unprovenPerAddressMax' | 'connectionsPerSecondMax'
    >,
    private readonly clock: { now(): number },
  ) {
    this.#rate = { burst: limits.unprovenConnectionsMax, perSecond: limits.connectionsPerSecondMax };
    this.#bucket = new TokenBucket(this.#rate, clock.now());
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Returns a function that gives the place back, or undefined if the lobby is full or the rate is
   * too high. `expel` destroys the connection in favour of one from another address.
   */
  enter(address: string | undefined, expel: () => void): (() => void) | undefined {
    const guest: Guest = { key: addressKey(address ?? ''), expel };
    if (this.#bucket.refill(this.#rate, this.clock.now()) < 1 || !this.#hasRoom(guest.key)) return undefined;
    this.#bucket.take(1);
    this.#add(guest);
    return () => void this.#remove(guest);
  }

  #hasRoom(key: string): boolean {
    const { unprovenConnectionsMax, unprovenPerAddressMax } = this.limits;
    const own = this.#guests.get(key)?.size ?? 0;
    if (own >= unprovenPerAddressMax) return false;
    return this.#size < unprovenConnectionsMax || this.#expelOneOfMoreThan(own + 1);
  }

  /** Expels the oldest connection of an address that has the average number or more. */
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
}
