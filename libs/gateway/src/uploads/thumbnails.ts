/** Creates thumbnails after the answer, one at a time, of pictures that can be decoded. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { UploadRow, UploadStore } from '@flotilla/registry';
import { thumbnailKey } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import type { GatewayLogger } from '../gateway-logger.js';
import { toThumbnail } from './picture-decoder.js';
import type { UploadLimits } from './upload-limits.js';

interface ThumbnailsOptions {
  readonly uploads: Pick<UploadStore, 'setThumbnail'>;
  readonly blobs: BlobStore;
  readonly limits: Pick<UploadLimits, 'pixelsMax' | 'thumbnailsWaitingMax'>;
  readonly logger: GatewayLogger;
}

/** Bytes: more than any small JPEG has. */
const THUMBNAIL_BYTES_MAX = 256 * 1024;

export class Thumbnails {
  readonly #waiting: UploadRow[] = [];
  #working: Promise<void> | undefined;
  #isClosed = false;

  constructor(private readonly options: ThumbnailsOptions) {}

  add(upload: UploadRow): void {
    if (this.#isClosed || this.#waiting.length >= this.options.limits.thumbnailsWaitingMax) return;
    this.#waiting.push(upload);
    this.#working ??= this.#work();
  }

  /** Finishes the current one; waiting pictures get none. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let upload = this.#waiting.shift(); upload && !this.#isClosed; upload = this.#waiting.shift()) {
      await this.#make(upload).catch((error: unknown) => {
        this.options.logger.debug({ err: error, uploadId: upload?.id }, 'could not create a thumbnail');
      });
    }
    this.#working = undefined;
  }

  async #make({ id, storageKey }: UploadRow): Promise<void> {
    const { blobs, limits, uploads } = this.options;
    const blob = await blobs.read(storageKey);
    if (blob === undefined) return;
    const small = await toThumbnail(await buffer(blob.body), limits.pixelsMax);
    const key = thumbnailKey(id);
    await blobs.put(key, Readable.from([small]), { contentType: 'image/jpeg', maxBytes: THUMBNAIL_BYTES_MAX });
    await uploads.setThumbnail(id, key);
  }
}
