/**
 * Caches the state of devices, so that a storm of logins costs a few statements and answers
 * continue while PostgreSQL is unavailable. Changes of this process count at once, those of others
 * after a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import { GROUP_ZONES, readGroupZones } from '../../groups/group-zones.js';
import type { GroupZone } from '../../groups/group-zones.js';
import { messageOf } from '../../registry-error.js';
import type { RegistryLogger } from '../../registry-logger.js';
import { GatheredReads } from './gathered-reads.js';
import { knownAfter, readDeviceCredentials } from './device-credentials.js';
import type { DeviceCredentials } from './device-credentials.js';

/** More devices than one gateway has sessions, at about 1 KB each. */
const KNOWN_MAX = 100_000;
/** Unknown ids are kept apart, so that invented ones displace no device. */
const UNKNOWN_MAX = 10_000;
/** How late a change by another process may be noticed. */
const SYNC_EVERY_MS = 1_000;
/** Changes are kept for an hour. A process that did not read them for this long starts empty. */
const SYNC_GAP_MAX_MS = 20 * 60_000;
/**
 * A lookup waits at most this long for changes: without PostgreSQL the answer takes ten seconds.
 */
const SYNC_WAIT_MS = 250;
const ROWS_PER_PAGE = 2_000;

/** $1 the oldest transaction that ran at the last read. A change is `<transaction> <device>`. */
const CHANGED_SINCE = {
  name: 'provisioning-changed-since',
  text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon,
           ARRAY(
             SELECT transaction_id || ' ' || device_id FROM provisioning_change WHERE transaction_id >= $1::bigint
           ) AS changes`,
};
/** For the first read, after which the cache is empty anyway. */
const BEFORE_NOTHING = '9223372036854775807';

export class CredentialCache {
  readonly #known = new LRUCache<string, DeviceCredentials>({ max: KNOWN_MAX });
  readonly #unknown = new LRUCache<string, DeviceCredentials>({ max: UNKNOWN_MAX });
  readonly #reads: GatheredReads<DeviceCredentials>;
  /** Devices whose cached state is newer than the written one: a read of them is outdated. */
  readonly #amended = new Set<string>();
  #zones: Promise<readonly GroupZone[]> | undefined;
  /**
   * For each running read, the ids that were forgotten meanwhile: its rows of these are outdated.
   */
  readonly #forgottenDuring = new Set<Set<string>>();
  /**
   * Changes that the last read returned. During a long transaction, later reads return them again;
   * they are handled once.
   */
  #changesSeen: ReadonlySet<string> = new Set();
  #horizon = BEFORE_NOTHING;
  #syncedAt = Number.NEGATIVE_INFINITY;
  #nextSyncAt = Number.NEGATIVE_INFINITY;
  #syncing: { readonly waited: Promise<void> } | undefined;

  constructor(
    private readonly database: Queryable,
    private readonly logger: RegistryLogger,
    private readonly now: () => number,
  ) {
    this.#reads = new GatheredReads((ids) => this.#readMany(ids));
  }

  /**
   * While PostgreSQL is away: what is remembered, however old. Throws RegistryError
   * DATABASE_UNAVAILABLE where nothing is.
   */
  async find(deviceId: string): Promise<DeviceCredentials> {
    const id = storableText(deviceId);
    await this.#sync();
    return this.#known.get(id) ?? this.#unknown.get(id) ?? this.#reads.get(id);
  }

  /** A known device as this process remembers it, without a statement. */
  async remembered(deviceId: string): Promise<DeviceCredentials | undefined> {
    await this.#sync();
    return this.#known.get(storableText(deviceId));
  }

  /**
   * The device as PostgreSQL has it, with pending writes of this process. Known and unknown devices
   * cost the same time.
   */
  async read(deviceId: string): Promise<DeviceCredentials> {
    const id = storableText(deviceId);
    const device = await this.#reads.get(id);
    return this.#amendedOf(id) ?? device;
  }

  /** Every known device, remembered from then on. */
  async all(): Promise<readonly DeviceCredentials[]> {
    await this.#sync();
    return this.#remembering(async () => {
      const zones = await this.#groupZones();
      const all: DeviceCredentials[] = [];
      for (;;) {
        const page = await knownAfter(this.database, all.at(-1)?.deviceId ?? '', ROWS_PER_PAGE, zones);
        all.push(...page);
        if (page.length < ROWS_PER_PAGE) return all;
      }
    });
  }

  /** What was changed, once it is committed. */
  forget(deviceIds: readonly string[]): void {
    for (const forgotten of this.#forgottenDuring) for (const id of deviceIds) forgotten.add(id);
    for (const id of deviceIds) {
      if (id === GROUP_ZONES) this.#zones = undefined;
      this.#known.delete(id);
      this.#unknown.delete(id);
      this.#amended.delete(id);
    }
  }

  /** A change whose row follows. Only for a device that is remembered as `former`. */
  amend(former: DeviceCredentials, device: DeviceCredentials): void {
    if (this.#known.get(former.deviceId) !== former) return;
    this.#known.set(former.deviceId, device);
    this.#amended.add(former.deviceId);
  }

  /** The row of a change was not written: the former state counts, unless another followed. */
  unamend(former: DeviceCredentials, device: DeviceCredentials): void {
    if (this.#known.get(former.deviceId) !== device) return;
    this.#known.set(former.deviceId, former);
    this.#amended.delete(former.deviceId);
  }

  #amendedOf(id: string): DeviceCredentials | undefined {
    return this.#amended.has(id) ? this.#known.get(id) : undefined;
  }

  /** Returns the devices that were remembered. */
  #forgetAll(): readonly string[] {
    const ids = [...this.#known.rkeys()];
    this.forget([GROUP_ZONES]);
    this.#known.clear();
    this.#unknown.clear();
    this.#amended.clear();
    return ids;
  }

  /** Remembered like the devices that they are part of. */
  #groupZones(): Promise<readonly GroupZone[]> {
    if (this.#zones !== undefined) return this.#zones;
    const zones = readGroupZones(this.database);
    this.#zones = zones;
    zones.catch(() => {
      if (this.#zones === zones) this.#zones = undefined;
    });
    return zones;
  }

  async #readMany(ids: readonly string[]): Promise<ReadonlyMap<string, DeviceCredentials>> {
    const devices = await this.#remembering(async () =>
      readDeviceCredentials(this.database, ids, await this.#groupZones()),
    );
    return new Map(devices.map((device) => [device.deviceId, device]));
  }

  /**
   * Remembers what is read, except for what was forgotten meanwhile. The zones are part of every
   * device.
   */
  async #remembering(read: () => Promise<readonly DeviceCredentials[]>): Promise<readonly DeviceCredentials[]> {
    const forgotten = new Set<string>();
    this.#forgottenDuring.add(forgotten);
    try {
      const devices = await read();
      if (forgotten.has(GROUP_ZONES)) return devices;
      for (const device of devices)
        if (!forgotten.has(device.deviceId) && this.#amendedOf(device.deviceId) === undefined)
          (device.credentials.length > 0 ? this.#known : this.#unknown).set(device.deviceId, device);
      return devices;
    } finally {
      this.#forgottenDuring.delete(forgotten);
    }
  }

  /** One question, shared by all that come while it is out. */
  #sync(): Promise<void> {
    if (this.now() < this.#nextSyncAt) return this.#syncing?.waited ?? Promise.resolve();
    if (this.#syncing === undefined) {
      const synced = this.#forgetChanged().finally(() => {
        this.#syncing = undefined;
      });
      this.#syncing = { waited: Promise.race([synced, sleep(SYNC_WAIT_MS, undefined, { ref: false })]) };
    }
    return this.#syncing.waited;
  }

  async #forgetChanged(): Promise<void> {
    const askedAt = this.now();
    try {
      const [row] = await this.database.query<{ horizon: string; changes: readonly string[] }>(CHANGED_SINCE, [
        this.#horizon,
      ]);
      const changes = new Set(row?.changes);
      const changed = [...changes].flatMap((change) =>
        this.#changesSeen.has(change) ? [] : change.slice(change.indexOf(' ') + 1),
      );
      if (askedAt - this.#syncedAt > SYNC_GAP_MAX_MS) this.#readAgain(this.#forgetAll());
      else {
        this.forget(changed);
        this.#readAgain(changed);
      }
      this.#changesSeen = changes;
      this.#horizon = row?.horizon ?? this.#horizon;
      this.#syncedAt = askedAt;
    } catch (error) {
      // The cache stays in use: an OTA answer must not fail because of this.
      this.logger.warn({ message: messageOf(error) }, 'changes of credentials by other processes were not read');
    } finally {
      this.#nextSyncAt = askedAt + SYNC_EVERY_MS;
    }
  }
  /** Reads changed devices ahead of requests. A failed read is repeated at the next request. */
  #readAgain(ids: readonly string[]): void {
    for (const id of ids) if (id !== GROUP_ZONES) this.#reads.get(id).catch(() => undefined);
  }
}
