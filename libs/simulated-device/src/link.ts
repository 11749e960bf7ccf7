/** The device's end of its connection: gathers what it wants done while it works through one input. What it says while offline is lost. */

export type DeviceEffect =
  | { readonly kind: 'send'; readonly text: string }
  /** End the connection: `graceful` with an MQTT DISCONNECT, `abrupt` with nothing. `disconnected` must not be called for it. */
  | { readonly kind: 'close'; readonly how: 'graceful' | 'abrupt' }
  /** Connect at this time; replaces an earlier one. */
  | { readonly kind: 'reconnectAt'; readonly at: number }
  /** Call `tick` at this time; replaces an earlier one. */
  | { readonly kind: 'wakeAt'; readonly at: number };

const NO_EFFECTS: readonly DeviceEffect[] = Object.freeze([]);

export class Link {
  isConnected = false;
  /** What the last hello answer said; pasted into every message. Survives the end of a conversation. [xiaozhi §2.6] */
  sessionId = '';
  #effects: DeviceEffect[] = [];
  #wakeAt = Infinity;

  constructor(
    readonly transport: 'mqtt' | 'websocket',
    private readonly reconnectMs: number,
  ) {}

  send(text: string): void {
    if (this.isConnected) this.#effects.push({ kind: 'send', text });
  }

  close(how: 'graceful' | 'abrupt'): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.#effects.push({ kind: 'close', how });
  }

  reconnectAt(at: number): void {
    this.#effects.push({ kind: 'reconnectAt', at });
  }

  /** The pause after a loss: esp-mqtt's own, or the time until somebody talks to a WebSocket device again. [xiaozhi §1.5, §2.3] */
  reconnectLater(now: number): void {
    this.reconnectAt(now + this.reconnectMs);
  }

  /** The effects gathered, and the next time to wake at where that has changed. */
  take(wakeAt: number): readonly DeviceEffect[] {
    if (wakeAt !== this.#wakeAt) {
      this.#wakeAt = wakeAt;
      if (wakeAt !== Infinity) this.#effects.push({ kind: 'wakeAt', at: wakeAt });
    }
    if (this.#effects.length === 0) return NO_EFFECTS;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** After a tick the old alarm is spent, so the same time would have to be asked for again. */
  forgetWake(): void {
    this.#wakeAt = Infinity;
  }
}
