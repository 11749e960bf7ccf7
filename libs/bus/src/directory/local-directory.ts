/**
 * The session directory within one process: a map, so that a lookup needs no promise. The gateway's
 * session table limits its size.
 */
import type { DeviceId } from '@flotilla/mcp';
import type { DirectoryEntry, SessionDirectory } from './directory.js';

export class LocalDirectory implements SessionDirectory {
  readonly #entries = new Map<DeviceId, DirectoryEntry>();

  put(entry: DirectoryEntry): Promise<void> {
    const known = this.#entries.get(entry.deviceId);
    if (known === undefined || known.epoch <= entry.epoch) this.#entries.set(entry.deviceId, entry);
    return Promise.resolve();
  }

  remove(deviceId: DeviceId, epoch: number): Promise<void> {
    if (this.#entries.get(deviceId)?.epoch === epoch) this.#entries.delete(deviceId);
    return Promise.resolve();
  }

  lookup(deviceId: DeviceId): DirectoryEntry | undefined {
    return this.#entries.get(deviceId);
  }
}
