/**
 * Devices that wait for a look, in the order in which they came. A device is worked on once at a
 * time, and everything that reads and writes its entries takes its place here.
 */
import type { DeviceId } from '@flotilla/mcp';
import { merged } from './look.js';
import type { Look } from './look.js';

export class DeviceQueue {
  readonly #waiting = new Map<DeviceId, Look>();
  readonly #taken = new Set<DeviceId>();
  #onQuiet: { readonly ids: Set<DeviceId>; readonly resolve: () => void }[] = [];

  get size(): number {
    return this.#waiting.size;
  }

  add(deviceId: DeviceId, look: Look): void {
    this.#waiting.set(deviceId, merged(this.#waiting.get(deviceId), look));
  }

  /** Up to `limit` devices that are not taken. They are taken until `giveBack`. */
  take(limit: number): ReadonlyMap<DeviceId, Look> {
    const batch = new Map<DeviceId, Look>();
    for (const [deviceId, look] of this.#waiting) {
      if (batch.size === limit) break;
      if (!this.#taken.has(deviceId)) batch.set(deviceId, look);
    }
    for (const deviceId of batch.keys()) {
      this.#waiting.delete(deviceId);
      this.#taken.add(deviceId);
    }
    return batch;
  }

  /** Whether the device was free; it is taken now. */
  takeOne(deviceId: DeviceId): boolean {
    if (this.#taken.has(deviceId)) return false;
    this.#taken.add(deviceId);
    return true;
  }

  giveBack(deviceIds: Iterable<DeviceId>): void {
    for (const deviceId of deviceIds) {
      this.#taken.delete(deviceId);
      if (this.#waiting.has(deviceId)) continue;
      for (const each of this.#onQuiet) each.ids.delete(deviceId);
    }
    this.#onQuiet = this.#onQuiet.filter(({ ids, resolve }) => {
      if (ids.size === 0) resolve();
      return ids.size > 0;
    });
  }

  /** Resolves when none of the devices waits or is taken any more. */
  quiet(deviceIds: readonly DeviceId[]): Promise<void> {
    const ids = new Set(deviceIds.filter((id) => this.#waiting.has(id) || this.#taken.has(id)));
    if (ids.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onQuiet.push({ ids, resolve }));
  }

  clear(): void {
    this.#waiting.clear();
    for (const { resolve } of this.#onQuiet.splice(0)) resolve();
  }
}
