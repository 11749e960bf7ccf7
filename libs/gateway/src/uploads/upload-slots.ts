/** One upload of a device at a time, and not too many in a minute: a device has one main task, so more is a fault or somebody else. */
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';

const MINUTE_MS = 60_000;
/** Devices remembered; the one unheard of for longest goes. */
const DEVICES_MAX = 20_000;

interface Minute {
  readonly startedAt: number;
  count: number;
}

export class DeviceTurns {
  readonly #active = new Set<string>();
  /** In the order of their beginning. */
  readonly #minutes = new Map<string, Minute>();

  constructor(private readonly limits: Pick<UploadLimits, 'perDeviceMinuteMax'>) {}

  /** The returned function ends the turn. Throws UploadRefusal RATE_LIMITED. */
  take(deviceId: string, now: number): () => void {
    if (this.#active.has(deviceId)) throw new UploadRefusal('RATE_LIMITED', 'An upload of this device is under way.');
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
