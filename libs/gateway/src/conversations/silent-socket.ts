/**
 * Ends a WebSocket conversation without a voice service: the device receives an alert, and is
 * disconnected after some time without calls. Until then waiting calls can run. [xiaozhi §1.5]
 */
import { alertMessage } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

interface SilentSocketOptions {
  readonly clock: Clock;
  /** Milliseconds; 0 leaves the end to the device. */
  readonly idleMs: number;
  readonly say: (message: JsonObject) => void;
  /** Calls that wait or run. */
  readonly pendingCalls: () => number;
  readonly close: () => void;
}

export class SilentSocket {
  #usedAt: number;
  #cancel: () => void = () => undefined;

  constructor(private readonly options: SilentSocketOptions) {
    this.#usedAt = options.clock.now();
  }

  /** The session of the device is ready. */
  begin(): void {
    if (this.options.idleMs === 0) return;
    this.options.say(
      alertMessage({ status: 'No voice service', message: 'This hub has no voice service.', emotion: 'neutral' }),
    );
    this.used();
    this.#wait(this.options.idleMs);
  }

  /** A call went to the device. */
  used(): void {
    this.#usedAt = this.options.clock.now();
  }

  end(): void {
    this.#cancel();
  }

  #wait(delayMs: number): void {
    this.#cancel();
    this.#cancel = this.options.clock.setTimer(delayMs, () => this.#look());
  }

  #look(): void {
    const { clock, close, idleMs, pendingCalls } = this.options;
    if (pendingCalls() > 0) this.used();
    const now = clock.now();
    // It is later than now if the clock was set back.
    this.#usedAt = Math.min(this.#usedAt, now);
    const leftMs = this.#usedAt + idleMs - now;
    if (leftMs > 0) this.#wait(leftMs);
    else close();
  }
}
