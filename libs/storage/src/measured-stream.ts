/** Counts and hashes a stream on its way into a store, and fails if it is too long. */
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import type { KeptBlob } from './blob-store.js';
import { StorageError } from './storage-error.js';

export class MeasuredStream extends Transform {
  readonly #hash = createHash('sha256');
  #sizeBytes = 0;

  constructor(private readonly maxBytes: number) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > this.maxBytes) {
      done(new StorageError('BLOB_TOO_LARGE', `The file has more than ${this.maxBytes} bytes.`));
      return;
    }
    this.#hash.update(chunk);
    done(null, chunk);
  }

  /** Call once, after the end. */
  measured(): KeptBlob {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest('hex') };
  }
}
