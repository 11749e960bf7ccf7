/** Counts the connections that have not introduced themselves yet, so that strangers cannot make us hold more than a bounded number of them. */

export class Lobby {
  #size = 0;

  constructor(private readonly connectionsMax: number) {}

  get size(): number {
    return this.#size;
  }

  /** Undefined when full; otherwise a function that gives the place back, once however often it is called. */
  enter(): (() => void) | undefined {
    if (this.#size >= this.connectionsMax) return undefined;
    this.#size += 1;
    let isInside = true;
    return () => {
      if (isInside) this.#size -= 1;
      isInside = false;
    };
  }
}
