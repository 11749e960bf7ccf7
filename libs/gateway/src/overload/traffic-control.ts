/**
 * Enforces the traffic limits of one connection. A device that sends too fast is read more slowly;
 * one that floods is disconnected. Each episode is reported once.
 */
import type { Clock } from '@flotilla/session';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { TrafficMeter } from './traffic-meter.js';

export interface TrafficControlOptions {
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  /** Stops reading. */
  readonly hold: () => void;
  /** Reads on. */
  readonly release: () => void;
  /** Ends the connection with `traffic_exceeded`. */
  readonly cut: () => void;
  /** Reports that the device sends too fast. */
  readonly report: (what: ThrottleReport) => void;
}

export interface ThrottleReport {
  readonly action: 'slowed' | 'cut';
  readonly messagesPerSecondMax: number;
  readonly bytesPerSecondMax: number;
}

export class TrafficControl {
  readonly #meter: TrafficMeter;
  #cancelRelease: (() => void) | undefined;
  /** Time of the last hold. */
  #heldAt: number | undefined;
  #isOver = false;

  constructor(private readonly options: TrafficControlOptions) {
    this.#meter = new TrafficMeter(options.limits, options.clock.now());
  }

  get isHolding(): boolean {
    return this.#cancelRelease !== undefined;
  }

  /** Counts arrived messages and bytes. */
  count(messages: number, bytes: number): void {
    if (this.#isOver) return;
    const { clock, limits } = this.options;
    const now = clock.now();
    this.#meter.take(messages, bytes, now);
    const debtMs = this.#meter.debtMs(now);
    if (debtMs === 0) return;
    if (debtMs > limits.trafficDebtMsMax) this.#cut();
    else if (!this.isHolding) this.#hold(debtMs, now);
  }

  /** The connection has ended. */
  end(): void {
    this.#isOver = true;
    this.#cancelRelease?.();
    this.#cancelRelease = undefined;
  }

  #hold(debtMs: number, now: number): void {
    const { counters, hold, limits } = this.options;
    if (this.#heldAt === undefined || now - this.#heldAt > limits.trafficEpisodeMs) {
      counters.add('traffic', 'slowed');
      this.#report('slowed');
    }
    this.#heldAt = now;
    this.#wait(debtMs);
    hold();
  }

  #wait(debtMs: number): void {
    this.#cancelRelease = this.options.clock.setTimer(debtMs, () => {
      this.#cancelRelease = undefined;
      // More has arrived meanwhile: it was already on its way.
      const leftMs = this.#meter.debtMs(this.options.clock.now());
      if (leftMs > 0) this.#wait(leftMs);
      else this.options.release();
    });
  }

  #cut(): void {
    this.end();
    this.options.counters.add('traffic', 'cut');
    this.#report('cut');
    this.options.cut();
  }

  #report(action: ThrottleReport['action']): void {
    const { messagesPerSecondMax, bytesPerSecondMax } = this.options.limits;
    this.options.report({ action, messagesPerSecondMax, bytesPerSecondMax });
  }
}
