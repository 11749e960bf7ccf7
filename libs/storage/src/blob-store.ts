/** Kept files by key: pictures that devices upload, firmware images. Two stores speak this: a folder and an S3-compatible bucket. */
import type { Readable } from 'node:stream';

export interface KeptBlob {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface BlobStore {
  /**
   * Keeps all bytes of `source` under `key`, or nothing: a blob that is readable is whole. Streams with back-pressure; never holds a blob in memory.
   * `key` is `[a-z0-9/._-]+`, chosen by the hub. Throws StorageError BLOB_TOO_LARGE, STORAGE_UNAVAILABLE, or the error of `source`.
   */
  put(key: string, source: Readable, options: { readonly contentType: string; readonly maxBytes: number }): Promise<KeptBlob>;
  /** The bytes from `start` to `end` (both inclusive, from 0), or all; undefined where there is none. */
  read(
    key: string,
    range?: { readonly start: number; readonly end: number },
  ): Promise<{ readonly body: Readable; readonly sizeBytes: number } | undefined>;
  /** Harmless where there is none. */
  remove(key: string): Promise<void>;
}
