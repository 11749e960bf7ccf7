/** Measures the traffic of one device with two token buckets, for messages and bytes. */
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

  /** Time until the device is within its limits again, ms; 0 if it is. */
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
    // A clock that is set back changes nothing.
    const seconds = (now - this.#filledAt) / 1_000;
    this.#filledAt = now;
    if (seconds <= 0) return;
    const { messagesPerSecondMax, messagesBurst, bytesPerSecondMax, bytesBurst } = this.limits;
    this.#messages = Math.min(messagesBurst, this.#messages + seconds * messagesPerSecondMax);
    this.#bytes = Math.min(bytesBurst, this.#bytes + seconds * bytesPerSecondMax);
  }
}
