/**
 * Stores a picture of a request in the blob store and writes its row. Rows exist only for complete
 * files; files without a row are removed.
 */
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import type { DeviceId } from '@flotilla/mcp';
import type { NewUpload, UploadKind, UploadRow, UploadStore } from '@flotilla/registry';
import type { BlobStore, KeptBlob } from '@flotilla/storage';
import { pictureKey, StorageError } from '@flotilla/storage';
import type { GatewayLogger } from '../gateway-logger.js';
import type { EventLog } from '../sessions/event-log.js';
import { PictureGate } from './picture-format.js';
import { receiveForm } from './receive-form.js';
import type { Thumbnails } from './thumbnails.js';
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';

interface PictureIntakeOptions {
  readonly uploads: UploadStore;
  readonly blobs: BlobStore;
  readonly thumbnails: Thumbnails;
  readonly events: EventLog;
  readonly limits: UploadLimits;
  readonly clock: { now(): number };
  readonly logger: GatewayLogger;
}

interface PictureOrigin {
  readonly kind: UploadKind;
  readonly deviceId: DeviceId | undefined;
  /** The single-use permission of the upload. */
  readonly ticketId?: string;
}

export class PictureIntake {
  #active = 0;

  constructor(private readonly options: PictureIntakeOptions) {}

  /** Reads the whole body. Throws only UploadRefusal. */
  async take(request: IncomingMessage, origin: PictureOrigin): Promise<UploadRow> {
    const { limits } = this.options;
    if (this.#active >= limits.atOnceMax)
      throw new UploadRefusal('UNAVAILABLE', 'Too many uploads at once. Try again.');
    this.#active += 1;
    try {
      return await this.#take(request, origin);
    } catch (error) {
      throw this.#refusalOf(error);
    } finally {
      this.#active -= 1;
    }
  }

  async #take(request: IncomingMessage, origin: PictureOrigin): Promise<UploadRow> {
    const { clock, events, limits, thumbnails, uploads } = this.options;
    const id = uploads.newId(clock.now());
    const storageKey = pictureKey(id);
    const { kept, fields } = await receiveForm(request, limits, (file) => this.#keep(storageKey, file)).catch(
      async (error: unknown) => {
        await this.#forget(storageKey);
        throw error;
      },
    );
    const question = origin.kind === 'PHOTO' ? fields.get('question') : undefined;
    // If this fails, the row may be written anyway. The sweep removes the bytes if it was not.
    const upload = await uploads.add({ id, storageKey, ...kept, ...origin, question });
    if (upload === undefined) {
      await this.#forget(storageKey);
      throw usedUp();
    }
    events.write('upload.received', upload.deviceId, { uploadId: id, kind: upload.kind, sizeBytes: upload.sizeBytes });
    thumbnails.add(upload);
    return upload;
  }

  async #keep(key: string, file: Readable): Promise<KeptBlob & Pick<NewUpload, 'contentType'>> {
    const gate = new PictureGate();
    pipeline(file, gate, () => undefined);
    const options = { contentType: 'application/octet-stream', maxBytes: this.options.limits.pictureBytesMax };
    const kept = await this.options.blobs.put(key, gate, options);
    return { ...kept, contentType: gate.type ?? options.contentType };
  }

  /** The sweep removes what could not be removed now. */
  async #forget(key: string): Promise<void> {
    await this.options.blobs.remove(key).catch(() => undefined);
  }

  #refusalOf(error: unknown): UploadRefusal {
    if (error instanceof UploadRefusal) return error;
    if (error instanceof StorageError && error.code === 'BLOB_TOO_LARGE') {
      const megabytes = this.options.limits.pictureBytesMax / (1024 * 1024);
      return new UploadRefusal('REQUEST_TOO_LARGE', `A picture may have ${megabytes} MB at most.`, { cause: error });
    }
    this.options.logger.warn({ err: error }, 'could not store an upload');
    return new UploadRefusal('UNAVAILABLE', 'The hub cannot store files now. Try again later.', { cause: error });
  }
}

export function usedUp(): UploadRefusal {
  return new UploadRefusal('NOT_FOUND', 'This address was for one upload and has been used.');
}
