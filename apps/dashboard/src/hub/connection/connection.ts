/**
 * The state of the live connection to the hub. It reconnects on its own; `healed` notifies readers
 * that missed updates.
 */

export interface ConnectionState {
  readonly isUp: boolean;
  /** Counts the times that a lost connection, or subscriptions over it, came back. */
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

  /** The connection stands, but subscriptions had ended. */
  readonly missed = (): void => this.#become({ ...this.#state, healed: this.#state.healed + 1 });

  #become(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
