/**
 * Removes uploads that are old, and blobs that nobody knows. Bytes go before their row and come before it, so that after a crash at any moment there is no row without bytes for long,
 * and what is left over are bytes without a row, which the sweep finds.
 */
import type { UploadStore } from '@flotilla/registry';
import { thumbnailKey, uploadIdOf, UPLOADS_PREFIX } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import type { FleetLogger } from '../fleet-logger.js';

export interface UploadRetentionOptions {
  readonly uploads: Pick<UploadStore, 'known' | 'olderThan' | 'remove'>;
  readonly blobs: BlobStore;
  /** Age at which uploads go, ms. */
  readonly keptMs: number;
  readonly clock: { now(): number };
  readonly logger: FleetLogger;
}

/** Rows and keys per statement. */
const BATCH = 500;
/** A blob without a row may be one whose row is being written; an hour later it is none, ms. */
const ORPHAN_AFTER_MS = 3_600_000;

export class UploadRetention {
  #running: Promise<void> | undefined;

  constructor(private readonly options: UploadRetentionOptions) {}

  /** May be called at any time and in several processes. Rejects where storage or PostgreSQL is away; what is left is done the next time. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    const removed = await this.#removeOld();
    const orphans = await this.#removeOrphans();
    if (removed + orphans > 0) this.options.logger.info({ removed, orphans }, 'removed old uploads');
  }

  async #removeOld(): Promise<number> {
    const { blobs, clock, keptMs, uploads } = this.options;
    let removed = 0;
    for (;;) {
      const old = await uploads.olderThan(clock.now() - keptMs, BATCH);
      for (const { id, storageKey } of old) {
        await blobs.remove(storageKey);
        await blobs.remove(thumbnailKey(id));
        await uploads.remove(id);
      }
      removed += old.length;
      if (old.length < BATCH) return removed;
    }
  }

  async #removeOrphans(): Promise<number> {
    const { blobs, clock } = this.options;
    let removed = 0;
    let keys: string[] = [];
    for await (const { key, keptAt } of blobs.list(UPLOADS_PREFIX)) {
      if (clock.now() - keptAt.getTime() < ORPHAN_AFTER_MS) continue;
      keys.push(key);
      if (keys.length < BATCH) continue;
      removed += await this.#removeUnknown(keys);
      keys = [];
    }
    return removed + (await this.#removeUnknown(keys));
  }

  async #removeUnknown(keys: readonly string[]): Promise<number> {
    const { blobs, uploads } = this.options;
    if (keys.length === 0) return 0;
    const known = await uploads.known([...new Set(keys.map(uploadIdOf))]);
    const orphans = keys.filter((key) => !known.has(uploadIdOf(key)));
    for (const key of orphans) await blobs.remove(key);
    return orphans.length;
  }
}
