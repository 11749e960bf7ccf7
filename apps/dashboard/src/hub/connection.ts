/** Whether the live connection to the hub stands. It heals by itself; what was missed meanwhile is asked for again by whoever watches `healed`. */

export interface ConnectionState {
  readonly isUp: boolean;
  /** Counts the times that a lost connection came back. */
  readonly healed: number;
}

/** Made for useSyncExternalStore. */
export class Connection {
  #state: ConnectionState = { isUp: true, healed: 0 };
  readonly #listeners = new Set<() => void>();

  readonly state = (): ConnectionState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly lost = (): void => this.#become({ ...this.#state, isUp: false });

  readonly stands = (): void => {
    if (!this.#state.isUp) this.#become({ isUp: true, healed: this.#state.healed + 1 });
  };

  #become(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
