/**
 * Remembers conversations over MQTT that ended with their connection. Their devices do not notice
 * that: a lost connection closes no audio channel. [xiaozhi §2.3]
 */
import type { DeviceId } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';

/** Devices connect again after 10 to 60 s. [xiaozhi §2.3] */
const REMEMBERED_MS = 10 * 60_000;
/** Devices: more than a process relays conversations. */
const REMEMBERED_MAX = 10_000;

export class LostConversations {
  readonly #lost: LRUCache<DeviceId, string>;

  constructor(clock: { now(): number }) {
    this.#lost = new LRUCache({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS, ttlResolution: 0, perf: clock });
  }

  add(deviceId: DeviceId, sessionId: string): void {
    this.#lost.set(deviceId, sessionId);
  }

  /** Returns the session id of the device's lost conversation, once. */
  take(deviceId: DeviceId): string | undefined {
    const sessionId = this.#lost.get(deviceId);
    this.#lost.delete(deviceId);
    return sessionId;
  }
}
