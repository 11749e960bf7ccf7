/** What generators of random input throw: the same seed gives the same throws. */
import { seededRandom } from '@flotilla/simulated-device';

export class FuzzDice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A whole number from 0 to below the bound. */
  below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  noise(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** The same with a few bytes changed, and perhaps cut off. */
  bent(bytes: Buffer): Buffer {
    const bent = Buffer.from(bytes);
    for (let n = this.below(3); n > 0 && bent.length > 0; n--) bent[this.below(bent.length)] = this.below(256);
    return this.below(4) === 0 ? bent.subarray(0, this.below(bent.length + 1)) : bent;
  }
}
