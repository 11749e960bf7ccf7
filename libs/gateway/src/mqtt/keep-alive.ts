/** Checks the keep-alive of MQTT: the broker does not see most packets. [MQTT-3.1.2-24] */
import type { Clock } from '@flotilla/session';

export class KeepAlive {
  #silenceMsMax = 0;
  #heardAt = 0;
  #cancel: () => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly onExpired: () => void,
  ) {}

  /** Starts with the seconds that CONNECT asks for. With 0 the device may be silent forever. */
  begin(seconds: number): void {
    if (seconds === 0) return;
    this.#silenceMsMax = seconds * 1_500;
    this.heard();
    this.#wait(this.#silenceMsMax);
  }

  /** Notes a packet. This sets no timer: the running one is set again when it fires too early. */
  heard(): void {
    this.#heardAt = this.clock.now();
  }

  end(): void {
    this.#cancel();
  }

  #wait(delayMs: number): void {
    const dueAt = this.clock.now() + delayMs;
    this.#cancel = this.clock.setTimer(delayMs, () => {
      const now = this.clock.now();
      // A clock that was set forward meanwhile added no silence; one that was set back left the
      // packet in the future.
      this.#heardAt = Math.min(this.#heardAt + Math.max(0, now - dueAt), now);
      const leftMs = this.#heardAt + this.#silenceMsMax - now;
      if (leftMs > 0) this.#wait(leftMs);
      else this.onExpired();
    });
  }
}
