/** Measures the traffic of one device with two token buckets, for messages and bytes. */
import type { GatewayLimits } from '../gateway-limits.js';
import { TokenBucket } from './token-bucket.js';
import type { BucketRate } from './token-bucket.js';

type TrafficLimits = Pick<GatewayLimits, 'messagesPerSecondMax' | 'messagesBurst' | 'bytesPerSecondMax' | 'bytesBurst'>;

export class TrafficMeter {
  readonly #messages: TokenBucket;
  readonly #bytes: TokenBucket;
  readonly #messageRate: BucketRate;
  readonly #byteRate: BucketRate;

  constructor(limits: TrafficLimits, now: number) {
    this.#messageRate = { burst: limits.messagesBurst, perSecond: limits.messagesPerSecondMax };
    this.#byteRate = { burst: limits.bytesBurst, perSecond: limits.bytesPerSecondMax };
    this.#messages = new TokenBucket(this.#messageRate, now);
    this.#bytes = new TokenBucket(this.#byteRate, now);
  }

  take(messages: number, bytes: number, now: number): void {
    this.#messages.refill(this.#messageRate, now);
    this.#bytes.refill(this.#byteRate, now);
    this.#messages.take(messages);
    this.#bytes.take(bytes);
  }

  /** Time until the device is within its limits again, ms; 0 if it is. */
  debtMs(now: number): number {
    const messages = this.#messages.refill(this.#messageRate, now) / this.#messageRate.perSecond;
    const bytes = this.#bytes.refill(this.#byteRate, now) / this.#byteRate.perSecond;
    return Math.max(0, Math.ceil(-messages * 1_000), Math.ceil(-bytes * 1_000));
  }
}
