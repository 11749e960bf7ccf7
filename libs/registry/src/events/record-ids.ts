/**
 * Ids of events and of calls of the hub: UUIDv7 that also grow within a millisecond, so ids are in
 * the order of the records.
 */
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
