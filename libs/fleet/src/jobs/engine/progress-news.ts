/** Tells the feed that a job moved on: at most twice a second, the latest always. */
import type { EventFeed } from '@flotilla/bus';
import type { JobId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

const betweenNewsMs = 500;

export class ProgressNews {
  readonly #feed: EventFeed;
  readonly #clock: Clock;
  readonly #jobId: JobId;
  #toldAt = -Infinity;
  #cancelTimer: (() => void) | undefined;

  constructor(feed: EventFeed, clock: Clock, jobId: JobId) {
    this.#feed = feed;
    this.#clock = clock;
    this.#jobId = jobId;
  }

  /** Counters moved. */
  changed(): void {
    const waitMs = this.#toldAt + betweenNewsMs - this.#clock.now();
    if (waitMs <= 0) this.tell();
    else this.#cancelTimer ??= this.#clock.setTimer(waitMs, () => this.tell());
  }

  /** A transition: at once. */
  tell(): void {
    this.end();
    this.#toldAt = this.#clock.now();
    this.#feed.publish('job', { jobId: this.#jobId });
  }

  end(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
