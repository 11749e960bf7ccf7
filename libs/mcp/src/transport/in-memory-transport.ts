/**
 * Two transports linked in memory, for tests and for simulated devices in the same process. Like a
 * socket, it delivers later, in order, and nothing after the end. The caller supplies the function
 * that defers.
 */
import type { CloseReason, Transport } from './transport.js';

/** Runs a function later, in order, never inside the call, such as `queueMicrotask`. */
type Defer = (run: () => void) => void;

/** Both ends of one path. Closing one ends the other with `connection_lost`. */
interface LinkedPair {
  readonly near: Transport;
  readonly far: Transport;
}

/** Makes a connected pair. Each end must be started; messages that arrive earlier wait for it. */
export function linkedPair(defer: Defer): LinkedPair {
  const near = new InMemoryTransport(defer);
  const far = new InMemoryTransport(defer);
  near.peer = far;
  far.peer = near;
  return { near, far };
}

class InMemoryTransport implements Transport {
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
  peer: InMemoryTransport | undefined;
  #isStarted = false;
  #isOpen = true;
  /** Messages that arrived before `start`. */
  #early: string[] = [];

  constructor(private readonly defer: Defer) {}

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const early = this.#early;
    this.#early = [];
    for (const text of early) this.defer(() => this.#deliver(text));
  }

  send(text: string): boolean {
    const { peer } = this;
    if (!this.#isOpen || peer === undefined) return false;
    this.defer(() => peer.#arrive(text));
    return true;
  }

  close(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#end(reason);
    const { peer } = this;
    if (peer !== undefined) this.defer(() => peer.#end('connection_lost'));
  }

  #arrive(text: string): void {
    if (this.#isStarted) this.#deliver(text);
    else this.#early.push(text);
  }

  #deliver(text: string): void {
    if (this.#isOpen) this.onmessage?.(text);
  }

  #end(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.defer(() => this.onclose?.(reason));
  }
}
