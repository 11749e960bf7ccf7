/**
 * Limits a device to one upload at a time and a few per minute. A device has one main task, so more
 * indicates a fault or an impostor.
 */
import { LRUCache } from 'lru-cache';
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';

const MINUTE_MS = 60_000;
/** Devices that are remembered; the least recent one is evicted. */
const DEVICES_MAX = 20_000;

export class UploadSlots {
  readonly #active = new Set<string>();
  /** Uploads of each device in its current minute, which began at `since`. */
  readonly #minutes = new LRUCache<string, { readonly since: number; readonly count: number }>({ max: DEVICES_MAX });

  constructor(
    private readonly limits: Pick<UploadLimits, 'perDeviceMinuteMax'>,
    private readonly clock: { now(): number },
  ) {}

  /** Returns a function that releases the slot. Throws UploadRefusal RATE_LIMITED. */
  take(deviceId: string): () => void {
    if (this.#active.has(deviceId))
      throw new UploadRefusal('RATE_LIMITED', 'Another upload of this device is in progress.');
    const { count, since } = this.#minuteOf(deviceId);
    if (count >= this.limits.perDeviceMinuteMax)
      throw new UploadRefusal(
        'RATE_LIMITED',
        `At most ${this.limits.perDeviceMinuteMax} uploads of a device in a minute.`,
      );
    this.#minutes.set(deviceId, { since, count: count + 1 });
    this.#active.add(deviceId);
    return () => this.#active.delete(deviceId);
  }

  #minuteOf(deviceId: string): { readonly since: number; readonly count: number } {
    const now = this.clock.now();
    const minute = this.#minutes.get(deviceId);
    // It began later than now if the clock was set back.
    const isOver = minute === undefined || now < minute.since || now - minute.since >= MINUTE_MS;
    return isOver ? { since: now, count: 0 } : minute;
  }
}
