/** Spreads the looks of the sweep: each device once an hour in a fleet of any size. */
import { sweepMs } from '@flotilla/desired-state';
import type { DeviceId } from '@flotilla/mcp';

/** Devices of one step after a standstill. */
const stepMax = 1_000;
/**
 * Devices that are due wait for so many others, or so long, ms. A step has the same ten statements
 * for 28 devices, the share of a second in a fleet of 100,000, as for 280.
 */
const companyMin = 250;
const waitMaxMs = 10_000;

interface SweptFleet {
  deviceCount(): Promise<number>;
  devicesAfter(after: string, limit: number): Promise<readonly DeviceId[]>;
}

export class SweepClock {
  #after = '';
  #total = 0;
  #done = 0;
  /** The hour has ended, and its last device was reached. */
  #isOver = true;
  #startedAt: number | undefined;
  #steppedAt = -Infinity;

  constructor(private readonly fleet: SweptFleet) {}

  /** The devices that are due at `now`. */
  async due(now: number): Promise<readonly DeviceId[]> {
    const sinceMs = this.#startedAt === undefined ? Infinity : now - this.#startedAt;
    // It is negative if the clock was set back.
    if (sinceMs < 0 || (sinceMs >= sweepMs && this.#isOver)) await this.#begin(now);
    const elapsed = now - (this.#startedAt ?? now);
    const isHourOver = elapsed >= sweepMs;
    // Then all that are left: those that waited, and those that were added meanwhile.
    const limit = isHourOver ? stepMax : Math.min(stepMax, Math.ceil((this.#total * elapsed) / sweepMs) - this.#done);
    const waitedMs = now - this.#steppedAt;
    if (limit <= 0 || (limit < companyMin && waitedMs >= 0 && waitedMs < waitMaxMs)) return [];
    this.#steppedAt = now;
    const ids = await this.fleet.devicesAfter(this.#after, limit);
    this.#done += limit;
    this.#isOver = isHourOver && ids.length < limit;
    this.#after = ids.at(-1) ?? this.#after;
    return ids;
  }

  async #begin(now: number): Promise<void> {
    this.#total = await this.fleet.deviceCount();
    this.#startedAt = now;
    this.#isOver = false;
    this.#done = 0;
    this.#after = '';
  }
}
