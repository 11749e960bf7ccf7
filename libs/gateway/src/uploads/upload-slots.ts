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
  /** Uploads of each device in its current minute. */
  readonly #counts: LRUCache<string, number>;

  constructor(
    private readonly limits: Pick<UploadLimits, 'perDeviceMinuteMax'>,
    clock: { now(): number },
  ) {
    this.#counts = new LRUCache({ max: DEVICES_MAX, ttl: MINUTE_MS, noUpdateTTL: true, ttlResolution: 0, perf: clock });
  }

  /** Returns a function that releases the slot. Throws UploadRefusal RATE_LIMITED. */
  take(deviceId: string): () => void {
    if (this.#active.has(deviceId))
      throw new UploadRefusal('RATE_LIMITED', 'Another upload of this device is in progress.');
    const count = this.#counts.get(deviceId) ?? 0;
    if (count >= this.limits.perDeviceMinuteMax)
      throw new UploadRefusal(
        'RATE_LIMITED',
        `At most ${this.limits.perDeviceMinuteMax} uploads of a device in a minute.`,
      );
    this.#counts.set(deviceId, count + 1);
    this.#active.add(deviceId);
    return () => this.#active.delete(deviceId);
  }
}
