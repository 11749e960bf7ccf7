/** Devices whose credentials became void: a connection that these opened gets no session. */
import type { DeviceId } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';

/** As many devices as one request removes. */
const REMEMBERED_MAX = 10_000;

export class Expulsions {
  #count = 0;
  /** The number of each device's last expulsion. */
  readonly #last = new LRUCache<DeviceId, number>({ max: REMEMBERED_MAX });

  /** Expulsions so far. A count has no problem with a clock that is set back. */
  get count(): number {
    return this.#count;
  }

  add(deviceId: DeviceId): void {
    this.#count += 1;
    this.#last.set(deviceId, this.#count);
  }

  /** Whether the device was expelled after there were `count` expulsions. */
  hasSince(deviceId: DeviceId, count: number): boolean {
    return (this.#last.get(deviceId) ?? 0) > count;
  }
}
