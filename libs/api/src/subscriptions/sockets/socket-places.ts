/**
 * Places for WebSocket connections in two pools: unauthenticated ones, and those with a valid key
 * or session. An unauthenticated one never takes a place of the second pool, nor of an address with
 * fewer sockets. It is closed after a time.
 */
import { networkOf } from '@flotilla/fleet';
import type { ApiLimits } from '../../limits/api-limits.js';

type PlaceLimits = Pick<
  ApiLimits,
  'socketsMax' | 'unauthenticatedSocketsMax' | 'unauthenticatedSocketsPerAddressMax' | 'unauthenticatedMsMax'
>;

/** The part of a socket that the places use. */
interface PlacedSocket {
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
}

export interface Place {
  isUnauthenticated(): boolean;
  /** The peer authenticated. False if that pool is full; the caller then closes the socket. */
  admit(): boolean;
}

interface UnauthenticatedSocket {
  readonly socket: PlacedSocket;
  readonly network: string;
}

export class SocketPlaces {
  /** By network, the oldest of each first. */
  readonly #unauthenticated = new Map<string, Set<UnauthenticatedSocket>>();
  #unauthenticatedCount = 0;
  #admittedCount = 0;

  constructor(private readonly limits: PlaceLimits) {}

  /** No further connection could be admitted. */
  get isFull(): boolean {
    return this.#admittedCount >= this.limits.socketsMax;
  }

  get unauthenticatedCount(): number {
    return this.#unauthenticatedCount;
  }

  /** A new connection always gets a place; a full address loses its oldest unauthenticated one. */
  enter(socket: PlacedSocket, address: string | undefined): Place {
    const entrant: UnauthenticatedSocket = { socket, network: networkOf(address ?? '') };
    this.#makeRoom(entrant.network);
    this.#add(entrant);
    const timer = setTimeout(() => socket.terminate(), this.limits.unauthenticatedMsMax).unref();
    const leave = (): boolean => {
      clearTimeout(timer);
      return this.#remove(entrant);
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
    const { unauthenticatedSocketsMax, unauthenticatedSocketsPerAddressMax } = this.limits;
    const own = this.#unauthenticated.get(network);
    if (own !== undefined && own.size >= unauthenticatedSocketsPerAddressMax) this.#expelOldest(own);
    else if (this.#unauthenticatedCount >= unauthenticatedSocketsMax) this.#expelOldest(this.#largest());
  }

  /** The address with most sockets; of several the one that has had some for longest. */
  #largest(): ReadonlySet<UnauthenticatedSocket> {
    let largest: ReadonlySet<UnauthenticatedSocket> = new Set();
    for (const sockets of this.#unauthenticated.values()) if (sockets.size > largest.size) largest = sockets;
    return largest;
  }

  #expelOldest(sockets: ReadonlySet<UnauthenticatedSocket>): void {
    const [oldest] = sockets;
    if (oldest === undefined) return;
    this.#remove(oldest);
    oldest.socket.terminate();
  }

  #add(entrant: UnauthenticatedSocket): void {
    const own = this.#unauthenticated.get(entrant.network) ?? new Set();
    this.#unauthenticated.set(entrant.network, own.add(entrant));
    this.#unauthenticatedCount += 1;
  }

  /** False where it has no place any more. */
  #remove(entrant: UnauthenticatedSocket): boolean {
    const own = this.#unauthenticated.get(entrant.network);
    if (own?.delete(entrant) !== true) return false;
    this.#unauthenticatedCount -= 1;
    if (own.size === 0) this.#unauthenticated.delete(entrant.network);
    return true;
  }
}
