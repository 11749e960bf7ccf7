/** Ids of events, and of calls that the hub makes itself: UUIDv7 of their time, growing also inside a millisecond, so that their order is that of the records. */
import { v7 } from 'uuid';
import { randomBytesOfId } from '../database/random-bytes.js';

export class RecordIds {
  #latestAt = -1;
  #sequence = 0;

  /** `at` in ms since the Unix epoch. */
  next(at: number): string {
    this.#sequence = at === this.#latestAt ? this.#sequence + 1 : 0;
    this.#latestAt = at;
    return v7({ msecs: at, seq: this.#sequence, random: randomBytesOfId() });
  }
}
