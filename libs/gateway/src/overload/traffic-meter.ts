/** How much one device sends: two token buckets, of messages and of bytes, that may run into debt. Says how long it takes until the debt is paid. */
import type { GatewayLimits } from '../gateway-limits.js';

export type TrafficLimits = Pick<
  GatewayLimits,
  'messagesPerSecondMax' | 'messagesBurst' | 'bytesPerSecondMax' | 'bytesBurst'
>;

export class TrafficMeter {
  #messages: number;
  #bytes: number;
  #filledAt: number;

  constructor(
    private readonly limits: TrafficLimits,
    now: number,
  ) {
    this.#messages = limits.messagesBurst;
    this.#bytes = limits.bytesBurst;
    this.#filledAt = now;
  }

  take(messages: number, bytes: number, now: number): void {
    this.#fill(now);
    this.#messages -= messages;
    this.#bytes -= bytes;
  }

  /** Time until the device has paid for what it sent, ms; 0 for one that keeps to its limits. */
  debtMs(now: number): number {
    this.#fill(now);
    if (this.#messages >= 0 && this.#bytes >= 0) return 0;
    const { messagesPerSecondMax, bytesPerSecondMax } = this.limits;
    return Math.max(
      0,
      Math.ceil((-this.#messages / messagesPerSecondMax) * 1_000),
      Math.ceil((-this.#bytes / bytesPerSecondMax) * 1_000),
    );
  }

  #fill(now: number): void {
    // A clock that is set back brings nothing and takes nothing.
    const seconds = (now - this.#filledAt) / 1_000;
    this.#filledAt = now;
    if (seconds <= 0) return;
    const { messagesPerSecondMax, messagesBurst, bytesPerSecondMax, bytesBurst } = this.limits;
    this.#messages = Math.min(messagesBurst, this.#messages + seconds * messagesPerSecondMax);
    this.#bytes = Math.min(bytesBurst, this.#bytes + seconds * bytesPerSecondMax);
  }
}
