/**
 * Files by key: pictures of devices and firmware images. There are two stores: a folder and an
 * S3-compatible bucket.
 */
import type { Readable } from 'node:stream';

export interface KeptBlob {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface PutOptions {
  readonly contentType: string;
  readonly maxBytes: number;
}

/** Both ends are inclusive, counted from 0, and within the blob. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface BlobBody {
  /** Destroy it if it is not read to its end. */
  readonly body: Readable;
  /** Of the whole blob, for any requested range. */
  readonly sizeBytes: number;
  /** Changes with the stored bytes; comparable within one store only. */
  readonly version: string;
}

export interface ListedBlob {
  readonly key: string;
  readonly keptAt: Date;
}

/**
 * Keys are `[a-z0-9/._-]+` without empty, `.` or `..` parts, chosen by the hub. All methods may
 * throw StorageError STORAGE_UNAVAILABLE.
 */
export interface BlobStore {
  /**
   * Stores all bytes of `source` or nothing, and replaces an earlier blob atomically. Streams, and
   * destroys an unread source. Throws StorageError BLOB_TOO_LARGE, or the error of `source`.
   */
  put(key: string, source: Readable, options: PutOptions): Promise<KeptBlob>;
  /** Returns the bytes in `range`, or all; undefined if there is no such blob. */
  read(key: string, range?: ByteRange): Promise<BlobBody | undefined>;
  /** Has no effect if there is no such blob. */
  remove(key: string): Promise<void>;
  /** Lists the blobs below `prefix`, which ends with a slash or is empty. Ignores foreign names. */
  list(prefix: string): AsyncIterable<ListedBlob>;
  /** Resolves if the store can be used now. */
  check(): Promise<void>;
  close(): Promise<void>;
}
