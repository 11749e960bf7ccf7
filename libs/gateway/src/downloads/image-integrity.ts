/**
 * Hashes the stored bytes of an image before they are served and compares them with the hash of the
 * upload. A person with write access to the storage must not control what devices run. Each version
 * of a file is hashed once per process.
 */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { FirmwareImageRow } from '@flotilla/registry';
import type { BlobBody, BlobStore, ByteRange } from '@flotilla/storage';
import { LRUCache } from 'lru-cache';

interface ImageIntegrityOptions {
  readonly blobs: Pick<BlobStore, 'read'>;
  /** Called once for each file version that differs from the upload. */
  readonly onCorrupt: (image: FirmwareImageRow, found: FoundBytes) => void;
}

/** The content of the storage instead of the image. */
export interface FoundBytes {
  readonly sha256: string;
  readonly sizeBytes: number;
}

type CheckedRead =
  | { readonly kind: 'sound'; readonly blob: BlobBody }
  | { readonly kind: 'corrupt' }
  /** The storage has no such file. */
  | { readonly kind: 'missing' };

interface Checked {
  readonly version: string;
  readonly isSound: boolean;
}

/** Images whose result is cached: more than a fleet rolls out in the life of a process. */
const rememberedMax = 1_000;
/** How often a file that changes while it is hashed is hashed again. */
const looksMax = 3;

export class ImageIntegrity {
  readonly #checks = new LRUCache<string, Promise<Checked | undefined>>({ max: rememberedMax });

  constructor(private readonly options: ImageIntegrityOptions) {}

  /** The bytes in `range` of a file version with the recorded hash. Throws StorageError. */
  async read(image: FirmwareImageRow, range: ByteRange): Promise<CheckedRead> {
    for (let look = 0; look < looksMax; look += 1) {
      const blob = await this.options.blobs.read(image.storageKey, range);
      if (blob === undefined) return { kind: 'missing' };
      // The storage may break it off while the file is hashed, before it is read. Without a
      // listener that would end the process.
      blob.body.on('error', () => undefined);
      const known = await this.#checkOf(image, blob.version).catch((error: unknown) => {
        blob.body.destroy();
        throw error;
      });
      if (blob.body.errored !== null) throw blob.body.errored;
      if (known?.version === blob.version && known.isSound) return { kind: 'sound', blob };
      blob.body.destroy();
      if (known?.version === blob.version) return { kind: 'corrupt' };
    }
    throw new Error(`The bytes of the firmware image ${image.id} change while they are read.`);
  }

  /** Simultaneous downloads share one check. */
  #checkOf(image: FirmwareImageRow, version: string): Promise<Checked | undefined> {
    const name = `${image.storageKey} ${version}`;
    const earlier = this.#checks.get(name);
    if (earlier !== undefined) return earlier;
    const check = this.#check(image);
    this.#checks.set(name, check);
    check.then(
      (checked) => checked?.version === version || this.#checks.delete(name),
      () => this.#checks.delete(name),
    );
    return check;
  }

  async #check(image: FirmwareImageRow): Promise<Checked | undefined> {
    const blob = await this.options.blobs.read(image.storageKey);
    if (blob === undefined) return undefined;
    const hash = createHash('sha256');
    await pipeline(blob.body, hash);
    const sha256 = hash.digest('hex');
    const isSound = sha256 === image.sha256;
    if (!isSound) this.options.onCorrupt(image, { sha256, sizeBytes: blob.sizeBytes });
    return { version: blob.version, isSound };
  }
}
