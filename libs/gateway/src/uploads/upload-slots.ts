/**
 * Limits the uploads of a key to one at a time and a few per minute. The key is a device, or the
 * ticket of a snapshot. A device has one main task, so more indicates a fault or an impostor.
 */
import { LRUCache } from 'lru-cache';
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';

const MINUTE_MS = 60_000;
/** Keys that are remembered; the least recent one is evicted. */
const KEYS_MAX = 20_000;

export class UploadSlots {
  readonly #active = new Set<string>();
  /** Uploads of each key in its current minute, which began at `since`. */
  readonly #minutes = new LRUCache<string, { readonly since: number; readonly count: number }>({ max: KEYS_MAX });

  constructor(
    private readonly limits: Pick<UploadLimits, 'perDeviceMinuteMax'>,
    private readonly clock: { now(): number },
  ) {}

  /** Returns a function that releases the slot. Throws UploadRefusal RATE_LIMITED. */
  take(key: string): () => void {
    if (this.#active.has(key)) throw new UploadRefusal('RATE_LIMITED', 'Another upload of this device is in progress.');
    const { count, since } = this.#minuteOf(key);
    if (count >= this.limits.perDeviceMinuteMax)
      throw new UploadRefusal(
        'RATE_LIMITED',
        `At most ${this.limits.perDeviceMinuteMax} uploads of a device in a minute.`,
      );
    this.#minutes.set(key, { since, count: count + 1 });
    this.#active.add(key);
    return () => this.#active.delete(key);
  }

  #minuteOf(key: string): { readonly since: number; readonly count: number } {
    const now = this.clock.now();
    const minute = this.#minutes.get(key);
    // It began later than now if the clock was set back.
    const isOver = minute === undefined || now < minute.since || now - minute.since >= MINUTE_MS;
    return isOver ? { since: now, count: 0 } : minute;
  }
}
