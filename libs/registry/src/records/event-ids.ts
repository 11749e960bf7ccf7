/** Ids of events: UUIDv7 of the event's time, growing within one process also inside a millisecond, so that the order of ids is the order of events. */
import { v7 } from 'uuid';

export class EventIds {
  #latestAt = -1;
  #sequence = 0;

  /** `at` in ms since the Unix epoch. */
  next(at: number): string {
    this.#sequence = at === this.#latestAt ? this.#sequence + 1 : 0;
    this.#latestAt = at;
    return v7({ msecs: at, seq: this.#sequence });
  }
}
