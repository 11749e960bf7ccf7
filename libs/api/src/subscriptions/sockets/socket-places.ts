/**
 * Places for WebSocket connections, in two pools: strangers, which have not said who they are, and those with a valid key or session. A stranger never takes
 * a place of the second pool, nor the place of another address while its own holds more. Strangers are destroyed after a time.
 */
import { networkOf } from '@flotilla/fleet';
import type { ApiLimits } from '../../limits/api-limits.js';

type PlaceLimits = Pick<
  ApiLimits,
  'socketsMax' | 'unauthenticatedSocketsMax' | 'unauthenticatedSocketsPerAddressMax' | 'unauthenticatedMsMax'
>;

/** The part of a socket that the places use. */
export interface PlacedSocket {
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
}

export interface Place {
  isUnauthenticated(): boolean;
  /** The peer proved who it is. False where the pool for that is full; the caller then closes the socket. */
  admit(): boolean;
}

interface Stranger {
  readonly socket: PlacedSocket;
  readonly network: string;
}

export class SocketPlaces {
  readonly #limits: PlaceLimits;
  /** By network, the oldest of each first. */
  readonly #strangers = new Map<string, Set<Stranger>>();
  #unauthenticatedCount = 0;
  #admittedCount = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** No further connection could be admitted. */
  get isFull(): boolean {
    return this.#admittedCount >= this.#limits.socketsMax;
  }

  get unauthenticatedCount(): number {
    return this.#unauthenticatedCount;
  }

  /** A new connection always gets a place: an address that fills its share loses its oldest stranger. */
  enter(socket: PlacedSocket, address: string | undefined): Place {
    const stranger: Stranger = { socket, network: networkOf(address ?? '') };
    this.#makeRoom(stranger.network);
    this.#add(stranger);
    const timer = setTimeout(() => socket.terminate(), this.#limits.unauthenticatedMsMax).unref();
    const leave = (): boolean => {
      clearTimeout(timer);
      return this.#remove(stranger);
    };
    let isAdmitted = false;
    socket.once('close', () => {
      leave();
      if (isAdmitted) this.#admittedCount -= 1;
      isAdmitted = false;
    });
    return {
      isUnauthenticated: () => !isAdmitted,
      admit: () => {
        // One that was expelled meanwhile has no place to give back.
        if (this.isFull || !leave()) return false;
        this.#admittedCount += 1;
        isAdmitted = true;
        return true;
      },
    };
  }

  #makeRoom(network: string): void {
    const { unauthenticatedSocketsMax, unauthenticatedSocketsPerAddressMax } = this.#limits;
    const own = this.#strangers.get(network);
    if (own !== undefined && own.size >= unauthenticatedSocketsPerAddressMax) this.#expelOldest(own);
    else if (this.#unauthenticatedCount >= unauthenticatedSocketsMax) this.#expelOldest(this.#largest());
  }

  /** The address with most strangers; of several the one that has had some for longest. */
  #largest(): ReadonlySet<Stranger> {
    let largest: ReadonlySet<Stranger> = new Set();
    for (const strangers of this.#strangers.values()) if (strangers.size > largest.size) largest = strangers;
    return largest;
  }

  #expelOldest(strangers: ReadonlySet<Stranger>): void {
    const [oldest] = strangers;
    if (oldest === undefined) return;
    this.#remove(oldest);
    oldest.socket.terminate();
  }

  #add(stranger: Stranger): void {
    const own = this.#strangers.get(stranger.network) ?? new Set();
    this.#strangers.set(stranger.network, own.add(stranger));
    this.#unauthenticatedCount += 1;
  }

  /** False where it has no place any more. */
  #remove(stranger: Stranger): boolean {
    const own = this.#strangers.get(stranger.network);
    if (own?.delete(stranger) !== true) return false;
    this.#unauthenticatedCount -= 1;
    if (own.size === 0) this.#strangers.delete(stranger.network);
    return true;
  }
}
