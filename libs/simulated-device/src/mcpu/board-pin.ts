/** One pin of a simulated board: its value, its measurements and its sample buffer. */
import type { PinSetup } from './board-profile.js';

/** Samples that a board takes after a pause at most; older ones are skipped. */
const catchUpMax = 1_000;

export class BoardPin {
  /** Of an output: what was last set. */
  output: boolean | number = false;
  readonly #ring: number[] = [];
  #statistics = { latest: 0, min: Infinity, max: -Infinity, sum: 0, count: 0 };
  #nextSampleAt: number | undefined;

  constructor(
    readonly setup: PinSetup,
    private readonly analogMax: number,
    private readonly noise: () => number,
  ) {
    this.reset();
  }

  /** As the sketch does for each new connection. [mcpu §0] */
  reset(): void {
    this.output = this.setup.type === 'pwm_output' ? 0 : false;
  }

  get isOutput(): boolean {
    return this.setup.type.endsWith('_output');
  }

  /** A digital read: an output returns its value, an input changes twice a minute. */
  level(now: number): boolean {
    return this.isOutput ? this.output === true : Math.floor(now / 30_000) % 2 === 1;
  }

  /** A slow wave with some noise, within the range of the converter. */
  measure(now: number): number {
    const wave = 0.45 + 0.1 * Math.sin(now / 20_000);
    return Math.round(this.analogMax * wave + 4 * this.noise());
  }

  /** Takes the samples that are due by now. The first falls due when the sketch first runs. */
  sampleUntil(now: number): void {
    const { sampling } = this.setup;
    if (sampling === undefined) return;
    const { intervalMs, bufferSize = 0 } = sampling;
    let at = Math.max(this.#nextSampleAt ?? now, now - catchUpMax * intervalMs);
    for (; at <= now; at += intervalMs) {
      const value = this.measure(at);
      const { min, max, sum, count } = this.#statistics;
      this.#statistics = {
        latest: value,
        min: Math.min(min, value),
        max: Math.max(max, value),
        sum: sum + value,
        count: count + 1,
      };
      this.#ring.push(value);
      if (this.#ring.length > bufferSize) this.#ring.shift();
    }
    this.#nextSampleAt = at;
  }

  /** Since the start of the sketch. */
  get summary(): Readonly<Record<string, number>> {
    const { latest, min, max, sum, count } = this.#statistics;
    return { latest, min, max, avg: count === 0 ? 0 : sum / count, samples: count };
  }

  /** Oldest first. */
  get ring(): readonly number[] {
    return this.#ring;
  }
}
