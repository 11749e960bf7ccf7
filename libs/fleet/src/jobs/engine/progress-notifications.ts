/**
 * Notifies subscribers that a job moved on: at most twice a second, always of the latest change.
 */
import type { EventFeed } from '@flotilla/bus';
import type { JobId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

const intervalMs = 500;

export class ProgressNotifications {
  #sentAt = -Infinity;
  #cancelTimer: (() => void) | undefined;

  constructor(
    private readonly feed: EventFeed,
    private readonly clock: Clock,
    private readonly jobId: JobId,
  ) {}

  /** Counters moved. */
  sendSoon(): void {
    // At most the interval, also after the clock was set back.
    const waitMs = Math.min(intervalMs, this.#sentAt + intervalMs - this.clock.now());
    if (waitMs <= 0) this.sendNow();
    else this.#cancelTimer ??= this.clock.setTimer(waitMs, () => this.sendNow());
  }

  /** The state of the job changed. */
  sendNow(): void {
    this.stop();
    this.#sentAt = this.clock.now();
    this.feed.publish('job', { jobId: this.jobId });
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
