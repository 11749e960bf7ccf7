/** Uploads, publishes, withdraws and deletes firmware images. Jobs send them to devices. */
import { Readable } from 'node:stream';
import type { Bus } from '@flotilla/bus';
import { RegistryError } from '@flotilla/registry';
import type {
  EventType,
  FirmwareImageRow,
  FirmwareKind,
  ImageSignature,
  NewFirmwareImage,
  Publication,
  Registry,
} from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { imageKey, StorageError } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import { ownerOf, sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import type { FleetLogger } from '../fleet-logger.js';
import { newId } from '../new-id.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { writeEvent } from '../write-event.js';
import { AssetsCheck, checked, FirmwareCheck, refuseFields, RefusedUpload } from './check-image.js';
import type { UploadRefusal } from './check-image.js';
import { describedColumns, plainName, refuseModels, refuseNotes } from './image-fields.js';
import { ImageSignatures, refuseSignatureText } from './image-signatures.js';
import { mendStoredFile } from './mend-stored-file.js';

interface FirmwareImagesDeps {
  readonly registry: Pick<Registry, 'events' | 'firmwareImages' | 'signingKeys'>;
  readonly bus: { readonly feed: Pick<Bus['feed'], 'publish'> };
  readonly blobs: Pick<BlobStore, 'put' | 'read' | 'remove'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  /** Refuses to publish images without a valid signature (no). */
  readonly mustBeSigned?: boolean;
}

export interface ImageUpload {
  readonly kind: FirmwareKind;
  readonly fileName: string;
  /** For assets only, which do not say theirs. */
  readonly version: string | undefined;
  /** Detached Ed25519 signature over the file's bytes, in base64. */
  readonly signature?: string | undefined;
  /** Errors of it are thrown, and nothing is kept. */
  readonly body: AsyncIterable<Uint8Array>;
}

type ImageAnswer = { readonly image: FirmwareImageRow } | { readonly refusal: Refusal };

/** The largest image, bytes: twice the largest flash of today's boards. */
const IMAGE_BYTES_MAX = 64 * 1024 * 1024;

export class FirmwareImages {
  readonly #signatures: ImageSignatures;

  constructor(private readonly deps: FirmwareImagesDeps) {
    this.#signatures = new ImageSignatures(deps);
  }

  /**
   * Keeps the file if devices can run it; the same file again is the same image. Throws
   * StorageError, and errors of `body`.
   */
  async upload(
    upload: ImageUpload,
    actor: Actor,
  ): Promise<{ readonly image: FirmwareImageRow } | { readonly refusal: UploadRefusal }> {
    const refusal = refuseFields(upload.kind, upload.version) ?? refuseSignatureText(upload.signature);
    if (refusal) return { refusal };
    const id = newId(this.deps.clock.now());
    const storageKey = imageKey(id);
    try {
      return { image: await this.#keep(upload, { id, storageKey }, actor) };
    } catch (error) {
      if (error instanceof RefusedUpload) return { refusal: error.refusal };
      if (error instanceof StorageError && error.code === 'BLOB_TOO_LARGE') return { refusal: tooLarge };
      throw error;
    }
  }

  /** Says for which boards the image is, beside or in place of those that it is published for. */
  async publish(
    id: string,
    { models, notes, replacesModels = false }: Pick<Publication, 'models' | 'notes' | 'replacesModels'>,
    actor: Actor,
  ): Promise<ImageAnswer> {
    const refusal = refuseModels(models) ?? refuseNotes(notes);
    if (refusal) return { refusal };
    const { clock, mustBeSigned = false } = this.deps;
    const publication = {
      id,
      notes,
      mustBeSigned,
      replacesModels,
      models: [...new Set(models)],
      at: clock.now(),
      publisherId: ownerOf(actor),
    };
    const answer = await this.deps.registry.firmwareImages.publish(publication, sourceOf(actor));
    switch (answer.kind) {
      case 'NOT_FOUND':
        return { refusal: noSuchImage(id) };
      case 'unsigned':
        return { refusal: refuse('CONFLICT', ['id'], unsignedImage) };
      case 'conflict': {
        const { fileName, id: holderId, uploadedAt, version } = answer.holder;
        const holder = `"${fileName}" of ${new Date(uploadedAt).toISOString()} (${holderId})`;
        const message =
          `Version ${version} for the board "${answer.model}" is already the image ${holder}. ` +
          'Withdraw that image, or build this one with another version.';
        return { refusal: refuse('CONFLICT', ['models', String(models.indexOf(answer.model))], message) };
      }
      case 'foreign_chip': {
        const message =
          `The devices of the board "${answer.model}" have the chip ${answer.chip}, ` + 'which cannot run this image.';
        return { refusal: refuse('INVALID', ['models', String(models.indexOf(answer.model))], message) };
      }
      case 'published':
        this.#writeEvent('firmware.published', answer.image, actor, { models });
        return { image: answer.image };
    }
  }

  /**
   * No device is offered the image any more, and its downloads end. Its version becomes free again.
   */
  async withdraw(id: string, actor: Actor): Promise<ImageAnswer> {
    const image = await this.deps.registry.firmwareImages.withdraw(id, this.deps.clock.now(), sourceOf(actor));
    if (image === undefined) return { refusal: noSuchImage(id) };
    this.#writeEvent('firmware.withdrawn', image, actor);
    return { image };
  }

  /** Deletes an image that nothing names, bytes included. */
  async remove(id: string, actor: Actor): Promise<ImageAnswer> {
    const answer = await this.deps.registry.firmwareImages.remove(id, this.deps.clock.now(), sourceOf(actor));
    if (answer.kind === 'NOT_FOUND') return { refusal: noSuchImage(id) };
    if (answer.kind === 'IN_USE') {
      const message =
        'The image is published, or a job has named it: withdraw it instead, so that records keep their sense.';
      return { refusal: refuse('CONFLICT', ['id'], message) };
    }
    await this.#discard(answer.image.storageKey);
    this.#writeEvent('firmware.deleted', answer.image, actor);
    return { image: answer.image };
  }

  async #keep(
    upload: ImageUpload,
    { id, storageKey }: { readonly id: string; readonly storageKey: string },
    actor: Actor,
  ): Promise<FirmwareImageRow> {
    const check = upload.kind === 'FIRMWARE' ? new FirmwareCheck() : new AssetsCheck();
    const source = Readable.from(checked(upload.body, check), { objectMode: false });
    const kept = await this.deps.blobs.put(storageKey, source, {
      contentType: 'application/octet-stream',
      maxBytes: IMAGE_BYTES_MAX,
    });
    const signature =
      upload.signature === undefined
        ? undefined
        : await this.#signatureOf(upload.signature, storageKey, kept.sizeBytes);
    const about = check instanceof FirmwareCheck ? check.image : undefined;
    const file = {
      id,
      storageKey,
      kind: upload.kind,
      fileName: plainName(upload.fileName),
      uploadedAt: this.deps.clock.now(),
      uploadedBy: actor.name,
    };
    const description = about ?? {
      project: 'assets',
      version: upload.version ?? '',
      chip: 'any',
      idfVersion: undefined,
      elfSha256: undefined,
    };
    const { image, isNew, isSignedNow } = await this.#add(
      { ...file, ...kept, ...describedColumns(description), signature },
      actor,
    );
    if (isNew) this.#writeEvent('firmware.uploaded', image, actor);
    else if (isSignedNow) this.#writeEvent('firmware.signed', image, actor);
    return image;
  }

  /** Throws RefusedUpload, and then keeps no bytes. */
  async #signatureOf(signature: string, storageKey: string, sizeBytes: number): Promise<ImageSignature> {
    try {
      return await this.#signatures.verified(storageKey, sizeBytes, signature);
    } catch (error) {
      await this.#discard(storageKey);
      throw error;
    }
  }

  /**
   * Keeps the bytes if a row may name them: a file without a row does less harm than the reverse.
   */
  async #add(image: NewFirmwareImage, actor: Actor): ReturnType<Registry['firmwareImages']['add']> {
    try {
      const answer = await this.deps.registry.firmwareImages.add(image, sourceOf(actor));
      if (answer.isNew) return answer;
      const { id, storageKey } = answer.image;
      if (await mendStoredFile(this.deps.blobs, answer.image, image.storageKey))
        this.deps.logger.warn({ imageId: id, storageKey }, 'a lost or damaged firmware file was replaced by an upload');
      await this.#discard(image.storageKey);
      return answer;
    } catch (error) {
      if (!(error instanceof RegistryError && error.code === 'DATABASE_UNAVAILABLE'))
        await this.#discard(image.storageKey);
      throw error;
    }
  }

  async #discard(storageKey: string): Promise<void> {
    await this.deps.blobs.remove(storageKey).catch((error: unknown) => {
      this.deps.logger.warn({ err: error, storageKey }, 'could not remove a firmware file without an image');
    });
  }

  #writeEvent(
    type: EventType,
    { chip, id, kind, sha256, signedBy, version }: FirmwareImageRow,
    actor: Actor,
    more: Readonly<Record<string, unknown>> = {},
  ): void {
    const signer = signedBy && { signedBy: signedBy.name };
    const data = { imageId: id, kind, version, chip, sha256, ...signer, ...more, actor: actor.name };
    writeEvent(this.deps, type, undefined, data);
  }
}

const tooLarge: UploadRefusal = {
  code: 'TOO_LARGE',
  message: `The file has more than ${String(IMAGE_BYTES_MAX / 1024 / 1024)} MiB, which no device can hold.`,
};

const unsignedImage =
  'The image has no valid signature, and this hub publishes only signed images. ' +
  'Upload the same file again with its signature.';

function noSuchImage(id: string): Refusal {
  return refuse('NOT_FOUND', ['id'], `There is no firmware image "${id}".`);
}
