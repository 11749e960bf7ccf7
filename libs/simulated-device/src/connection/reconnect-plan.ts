/** When a device that lost its connection, or did not get one, tries again. [xiaozhi §1.5, §2.3] */
import type { Pauses } from './pauses.js';

/** Cellular modems have no loop of esp-mqtt: only the application's timer brings them back. */
export type Network = 'wifi' | 'cellular';

export class ReconnectPlan {
  /** When the application makes a new client, unless a connection comes first. */
  #rebuildAt = Infinity;

  constructor(
    private readonly network: Network,
    private readonly pauses: Pick<Pauses, 'reconnectMs' | 'rebuildMs'>,
    /**
     * Whether a WebSocket device starts another conversation after each one; otherwise it stays
     * idle.
     */
    private readonly talksAgain = true,
  ) {}

  /** A connection is there. */
  reached(): void {
    this.#rebuildAt = Infinity;
  }

  /** The time of the next attempt; undefined if only a conversation or a restart starts one. */
  next(
    now: number,
    { wasConnected, transport }: { readonly wasConnected: boolean; readonly transport: 'mqtt' | 'websocket' },
  ): number | undefined {
    const { reconnectMs, rebuildMs } = this.pauses;
    // A WebSocket device does not reconnect: this is the time until the next conversation, if any.
    if (transport === 'websocket') return this.talksAgain ? now + reconnectMs : undefined;
    if (this.network === 'cellular') return wasConnected ? now + rebuildMs : undefined;
    if (wasConnected) this.#rebuildAt = now + rebuildMs;
    const at = Math.min(now + reconnectMs, Math.max(now, this.#rebuildAt));
    if (at === this.#rebuildAt) this.#rebuildAt = Infinity;
    return at;
  }
}
