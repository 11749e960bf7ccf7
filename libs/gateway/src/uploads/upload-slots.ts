/**
 * Limits a device to one upload at a time and a few per minute. A device has one main task, so more
 * indicates a fault or an impostor.
 */
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';

const MINUTE_MS = 60_000;
/** Devices that are remembered; the least recent one is evicted. */
const DEVICES_MAX = 20_000;

interface Minute {
  readonly startedAt: number;
  count: number;
}

export class UploadSlots {
  readonly #active = new Set<string>();
  readonly #minutes = new Map<string, Minute>();

  constructor(private readonly limits: Pick<UploadLimits, 'perDeviceMinuteMax'>) {}

  /** Returns a function that releases the slot. Throws UploadRefusal RATE_LIMITED. */
  take(deviceId: string, now: number): () => void {
    if (this.#active.has(deviceId))
      throw new UploadRefusal('RATE_LIMITED', 'Another upload of this device is in progress.');
    const minute = this.#minuteOf(deviceId, now);
    if (minute.count >= this.limits.perDeviceMinuteMax)
      throw new UploadRefusal(
        'RATE_LIMITED',
        `At most ${this.limits.perDeviceMinuteMax} uploads of a device in a minute.`,
      );
    minute.count += 1;
    this.#active.add(deviceId);
    return () => this.#active.delete(deviceId);
  }

  #minuteOf(deviceId: string, now: number): Minute {
    const known = this.#minutes.get(deviceId);
    if (known && now - known.startedAt < MINUTE_MS) return known;
    const minute = { startedAt: now, count: 0 };
    this.#minutes.delete(deviceId);
    this.#minutes.set(deviceId, minute);
    if (this.#minutes.size > DEVICES_MAX) {
      const [oldest] = this.#minutes.keys();
      if (oldest !== undefined) this.#minutes.delete(oldest);
    }
    return minute;
  }
}
