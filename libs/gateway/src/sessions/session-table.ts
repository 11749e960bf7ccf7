/** The live sessions of this process by device id: one each, and the newest wins. */
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';

/** The part of a session that the table needs. */
interface TableEntry {
  readonly deviceId: DeviceId;
  close(reason: CloseReason): void;
}

/** Two devices with one id evict each other about every 10 s. [xiaozhi §2.3] */
const FLAPPING_MS_MAX = 30_000;

/** `flapping`: this device was taken over a moment ago as well. */
type Takeover = 'none' | 'takeover' | 'flapping';

/** Maximum of devices whose last takeover is remembered. */
const rememberedTakeoversMax = 10_000;

export class SessionTable<Entry extends TableEntry> {
  readonly #entries = new Map<DeviceId, Entry>();
  readonly #takenOver: LRUCache<DeviceId, true>;

  constructor(clock: { now(): number }) {
    this.#takenOver = new LRUCache({
      max: rememberedTakeoversMax,
      ttl: FLAPPING_MS_MAX,
      ttlResolution: 0,
      perf: clock,
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(deviceId: DeviceId): Entry | undefined {
    return this.#entries.get(deviceId);
  }

  values(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  /** Adds a session. The device must not have one: see `evict`. */
  put(entry: Entry): void {
    this.#entries.set(entry.deviceId, entry);
  }

  /** Removes the device's session and closes it with `taken_over`. */
  evict(deviceId: DeviceId): Takeover {
    const older = this.#entries.get(deviceId);
    if (older === undefined) return 'none';
    this.#entries.delete(deviceId);
    const kind = this.#noteTakeover(deviceId);
    older.close('taken_over');
    return kind;
  }

  /** Removes a session, unless a newer one has replaced it. */
  remove(entry: Entry): void {
    if (this.#entries.get(entry.deviceId) === entry) this.#entries.delete(entry.deviceId);
  }

  #noteTakeover(deviceId: DeviceId): Takeover {
    const kind = this.#takenOver.has(deviceId) ? 'flapping' : 'takeover';
    this.#takenOver.set(deviceId, true);
    return kind;
  }
}
