/**
 * What this process remembers of how devices stand, so that a storm of logins costs a few
 * statements and answers go on while PostgreSQL is away. Forgets at once what this process changes,
 * and what others changed by the next question after a second; what was changed is read again
 * without waiting for a question, because PostgreSQL may be away by then. Decides nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import { BoundedCache } from '../../devices/bounded-cache.js';
import { GROUP_ZONES, readGroupZones } from '../../groups/group-zones.js';
import type { GroupZone } from '../../groups/group-zones.js';
import { messageOf } from '../../registry-error.js';
import type { RegistryLogger } from '../../registry-logger.js';
import { GatheredReads } from './gathered-reads.js';
import { knownAfter, standingOf } from './standing.js';
import type { Standing } from './standing.js';

/** More devices than one gateway has sessions, at about 1 KB each. */
const KNOWN_MAX = 100_000;
/** Ids that nobody knows, kept apart so that made-up ones push no device out. */
const UNKNOWN_MAX = 10_000;
/** How late a change by another process may be noticed. */
const SYNC_EVERY_MS = 1_000;
/** Changes are kept for an hour; who has not looked for this long begins with nothing. */
const SYNC_GAP_MAX_MS = 20 * 60_000;
/**
 * Nobody waits longer than this to hear of changes: while PostgreSQL is away each question may take
 * ten seconds.
 */
const SYNC_WAIT_MS = 250;
const ROWS_PER_PAGE = 2_000;

/**
 * $1: the oldest transaction that was still running at the last look. Each change is `<transaction>
 * <device>`.
 */
const CHANGED_SINCE = {
  name: 'provisioning-changed-since',
  text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon,
           ARRAY(SELECT transaction_id || ' ' || device_id FROM provisioning_change WHERE transaction_id >= $1::bigint) AS changes`,
};
/** For a first look, after which everything is forgotten anyway. */
const BEFORE_NOTHING = '9223372036854775807';

export class CredentialCache {
  readonly #database: Queryable;
  readonly #logger: RegistryLogger;
  readonly #now: () => number;
  readonly #known = new BoundedCache<string, Standing>(KNOWN_MAX);
  readonly #unknown = new BoundedCache<string, Standing>(UNKNOWN_MAX);
  readonly #reads: GatheredReads<Standing>;
  /** Devices of which more is remembered than is written: what a read brings of them is older. */
  readonly #amended = new Set<string>();
  #zones: Promise<readonly GroupZone[]> | undefined;
  /**
   * For each read that is out, what was forgotten meanwhile: what it brings of that is out of date.
   */
  readonly #forgottenDuring = new Set<Set<string>>();
  /**
   * What the last look found. A long transaction has it found again at each look, and it is news
   * only once.
   */
  #changesSeen: ReadonlySet<string> = new Set();
  #horizon = BEFORE_NOTHING;
  #syncedAt = Number.NEGATIVE_INFINITY;
  #nextSyncAt = Number.NEGATIVE_INFINITY;
  #syncing: { readonly waited: Promise<void> } | undefined;

  constructor(database: Queryable, logger: RegistryLogger, now: () => number) {
    this.#database = database;
    this.#logger = logger;
    this.#now = now;
    this.#reads = new GatheredReads((ids) => this.#readMany(ids));
  }

  /**
   * While PostgreSQL is away: what is remembered, however old. Throws RegistryError
   * DATABASE_UNAVAILABLE where nothing is.
   */
  async find(deviceId: string): Promise<Standing> {
    const id = storableText(deviceId);
    await this.#sync();
    return this.#known.get(id) ?? this.#unknown.get(id) ?? this.#reads.get(id);
  }

  /** A known device as this process remembers it, without a statement. */
  async remembered(deviceId: string): Promise<Standing | undefined> {
    await this.#sync();
    return this.#known.get(storableText(deviceId));
  }

  /**
   * The device as PostgreSQL has it now, with what this process has yet to write. Costs a share of
   * one statement whether or not the device is known or remembered: the time that it takes
   * discloses neither.
   */
  async read(deviceId: string): Promise<Standing> {
    const id = storableText(deviceId);
    const standing = await this.#reads.get(id);
    return this.#amendedOf(id) ?? standing;
  }

  /** Every known device, remembered from then on. */
  async all(): Promise<readonly Standing[]> {
    await this.#sync();
    return this.#remembering(async () => {
      const zones = await this.#groupZones();
      const all: Standing[] = [];
      for (;;) {
        const page = await knownAfter(this.#database, all.at(-1)?.deviceId ?? '', ROWS_PER_PAGE, zones);
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
  amend(former: Standing, standing: Standing): void {
    if (this.#known.get(former.deviceId) !== former) return;
    this.#known.set(former.deviceId, standing);
    this.#amended.add(former.deviceId);
  }

  /** The row of a change was not written: the next read counts again. */
  unamend(deviceId: string): void {
    this.#amended.delete(deviceId);
  }

  #amendedOf(id: string): Standing | undefined {
    return this.#amended.has(id) ? this.#known.get(id) : undefined;
  }

  /** Returns the devices that were remembered. */
  #forgetAll(): readonly string[] {
    const ids = this.#known.keys();
    this.forget([GROUP_ZONES]);
    this.#known.clear();
    this.#unknown.clear();
    this.#amended.clear();
    return ids;
  }

  /** Remembered like the devices that they are part of. */
  #groupZones(): Promise<readonly GroupZone[]> {
    if (this.#zones !== undefined) return this.#zones;
    const zones = readGroupZones(this.#database);
    this.#zones = zones;
    zones.catch(() => {
      if (this.#zones === zones) this.#zones = undefined;
    });
    return zones;
  }

  async #readMany(ids: readonly string[]): Promise<ReadonlyMap<string, Standing>> {
    const standings = await this.#remembering(async () => standingOf(this.#database, ids, await this.#groupZones()));
    return new Map(standings.map((standing) => [standing.deviceId, standing]));
  }

  /**
   * Remembers what is read, except for what was forgotten meanwhile. The zones are part of every
   * standing.
   */
  async #remembering(read: () => Promise<readonly Standing[]>): Promise<readonly Standing[]> {
    const forgotten = new Set<string>();
    this.#forgottenDuring.add(forgotten);
    try {
      const standings = await read();
      if (forgotten.has(GROUP_ZONES)) return standings;
      for (const standing of standings)
        if (!forgotten.has(standing.deviceId) && this.#amendedOf(standing.deviceId) === undefined)
          (standing.credentials.length > 0 ? this.#known : this.#unknown).set(standing.deviceId, standing);
      return standings;
    } finally {
      this.#forgottenDuring.delete(forgotten);
    }
  }

  /** One question, shared by all that come while it is out. */
  #sync(): Promise<void> {
    if (this.#now() < this.#nextSyncAt) return this.#syncing?.waited ?? Promise.resolve();
    if (this.#syncing === undefined) {
      const synced = this.#forgetChanged().finally(() => {
        this.#syncing = undefined;
      });
      this.#syncing = { waited: Promise.race([synced, sleep(SYNC_WAIT_MS, undefined, { ref: false })]) };
    }
    return this.#syncing.waited;
  }

  async #forgetChanged(): Promise<void> {
    const askedAt = this.#now();
    try {
      const [row] = await this.#database.query<{ horizon: string; changes: readonly string[] }>(CHANGED_SINCE, [
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
      // What is remembered stays in use: a login gets no session without PostgreSQL anyway, and an
      // OTA answer must not fail for it.
      this.#logger.warn({ message: messageOf(error) }, 'changes of credentials by other processes were not read');
    } finally {
      this.#nextSyncAt = askedAt + SYNC_EVERY_MS;
    }
  }
  /**
   * Nobody waits for it, and whoever asks meanwhile shares it. What cannot be read is read when
   * somebody asks.
   */
  #readAgain(ids: readonly string[]): void {
    for (const id of ids) if (id !== GROUP_ZONES) this.#reads.get(id).catch(() => undefined);
  }
}
