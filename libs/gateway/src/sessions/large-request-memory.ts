/**
 * Remembers which devices lose large requests between two sessions. The fault ends when the
 * firmware restarts or rebuilds its client, so then it is forgotten. [xiaozhi §9, 24]
 */
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import type { LargeRequests } from '@flotilla/session';
import { LRUCache } from 'lru-cache';

/** After so long without a connection the firmware has rebuilt its client, ms. [xiaozhi §2.3] */
const REBUILT_AFTER_MS = 60_000;
/** Maximum of devices. The fault is rare, and a device that is forgotten shows it again. */
const DEVICES_MAX = 10_000;

export class LargeRequestMemory {
  readonly #kept: LRUCache<DeviceId, LargeRequests>;

  constructor(clock: { now(): number }) {
    this.#kept = new LRUCache({ max: DEVICES_MAX, ttl: REBUILT_AFTER_MS, ttlResolution: 0, perf: clock });
  }

  /** Stores what an ended session knew. A device that closed the connection itself restarts. */
  keep(deviceId: DeviceId, largeRequests: LargeRequests, reason: CloseReason): void {
    if (largeRequests.unanswered === 0 || reason === 'device_closed') return;
    this.#kept.set(deviceId, largeRequests);
  }

  /** Returns it for the next session of the device. */
  take(deviceId: DeviceId): LargeRequests | undefined {
    const kept = this.#kept.get(deviceId);
    this.#kept.delete(deviceId);
    return kept;
  }

  /** The device has started again. */
  forget(deviceId: DeviceId): void {
    this.#kept.delete(deviceId);
  }
}
