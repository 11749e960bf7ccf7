/**
 * Removes old uploads, and blobs of uploads and images without a row. Bytes are written before
 * their row and deleted before it. The next run removes what a crash leaves: bytes without a row,
 * or an old row without bytes.
 */
import type { FirmwareImageStore, Registry, UploadStore } from '@flotilla/registry';
import { imageIdOf, IMAGES_PREFIX, thumbnailKey, uploadIdOf, UPLOADS_PREFIX } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import type { FleetLogger } from '../fleet-logger.js';
import { removeOrphans } from './remove-orphans.js';
import type { RowedBlobs } from './remove-orphans.js';

interface UploadRetentionOptions {
  readonly registry: Pick<Registry, 'earlierNow'>;
  readonly uploads: Pick<UploadStore, 'known' | 'olderThan' | 'remove'>;
  readonly images: Pick<FirmwareImageStore, 'known'>;
  readonly blobs: BlobStore;
  /** Age at which uploads go, ms. */
  readonly keptMs: number;
  readonly clock: { now(): number };
  readonly logger: FleetLogger;
}

/** Rows per statement. */
const BATCH = 500;

export class UploadRetention {
  #running: Promise<void> | undefined;

  constructor(private readonly options: UploadRetentionOptions) {}

  /**
   * May run at any time and in several processes. Rejects if storage or PostgreSQL fails; the next
   * run continues.
   */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    const { clock, registry } = this.options;
    const now = await registry.earlierNow(clock.now());
    const removed = await this.#removeOld(now);
    const orphans = await this.#removeOrphans(now);
    if (removed + orphans > 0) this.options.logger.info({ removed, orphans }, 'removed old uploads');
  }

  async #removeOld(now: number): Promise<number> {
    const { blobs, keptMs, uploads } = this.options;
    let removed = 0;
    for (;;) {
      const old = await uploads.olderThan(now - keptMs, BATCH);
      for (const { id, storageKey } of old) {
        await blobs.remove(storageKey);
        await blobs.remove(thumbnailKey(id));
        await uploads.remove(id);
      }
      removed += old.length;
      if (old.length < BATCH) return removed;
    }
  }

  async #removeOrphans(now: number): Promise<number> {
    const { blobs, images, uploads } = this.options;
    const rowed: readonly RowedBlobs[] = [
      { prefix: UPLOADS_PREFIX, idOf: uploadIdOf, known: (ids) => uploads.known(ids) },
      { prefix: IMAGES_PREFIX, idOf: imageIdOf, known: (ids) => images.known(ids) },
    ];
    let removed = 0;
    for (const each of rowed) removed += await removeOrphans(blobs, each, now);
    return removed;
  }
}
