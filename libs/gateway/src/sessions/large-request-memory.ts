/**
 * Remembers which devices lose large requests between two sessions. The fault ends when the
 * firmware restarts or rebuilds its client, so then it is forgotten. [xiaozhi §9, 24]
 */
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import type { LargeRequests } from '@flotilla/session';

/** After so long without a connection the firmware has rebuilt its client, ms. [xiaozhi §2.3] */
const REBUILT_AFTER_MS = 60_000;
/** Maximum of devices. The fault is rare, and a device that is forgotten shows it again. */
const DEVICES_MAX = 10_000;

interface Kept {
  readonly largeRequests: LargeRequests;
  readonly endedAt: number;
}

export class LargeRequestMemory {
  /** The oldest end first. */
  readonly #kept = new Map<DeviceId, Kept>();

  constructor(private readonly clock: { now(): number }) {}

  /** Stores what an ended session knew. A device that closed the connection itself restarts. */
  keep(deviceId: DeviceId, largeRequests: LargeRequests, reason: CloseReason): void {
    if (largeRequests.unanswered === 0 || reason === 'device_closed') return;
    this.#kept.delete(deviceId);
    this.#kept.set(deviceId, { largeRequests, endedAt: this.clock.now() });
    if (this.#kept.size <= DEVICES_MAX) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }

  /** Returns it for the next session of the device. */
  take(deviceId: DeviceId): LargeRequests | undefined {
    const kept = this.#kept.get(deviceId);
    if (kept === undefined) return undefined;
    this.#kept.delete(deviceId);
    return this.clock.now() - kept.endedAt < REBUILT_AFTER_MS ? kept.largeRequests : undefined;
  }

  /** The device has started again. */
  forget(deviceId: DeviceId): void {
    this.#kept.delete(deviceId);
  }
}
