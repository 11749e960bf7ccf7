/** Kept files by key: pictures that devices upload, firmware images. Two stores speak this: a folder and an S3-compatible bucket. */
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

/** Both ends are part of it, counted from 0; it lies within the blob. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface BlobBody {
  /** Destroy it where it is not read to its end. */
  readonly body: Readable;
  /** Of the whole blob, whatever range was asked for. */
  readonly sizeBytes: number;
  /** Differs whenever the stored bytes may have changed; comparable within one store only. */
  readonly version: string;
}

export interface ListedBlob {
  readonly key: string;
  readonly keptAt: Date;
}

/** Keys are `[a-z0-9/._-]+` without empty, `.` or `..` parts, chosen by the hub. All methods throw StorageError STORAGE_UNAVAILABLE. */
export interface BlobStore {
  /**
   * Keeps all bytes of `source` under `key`, or nothing: a blob that is readable is whole, on disk, and replaces an earlier one at once.
   * Streams with back-pressure and destroys a source that it did not read to its end. Throws StorageError BLOB_TOO_LARGE, or the error of `source`.
   */
  put(key: string, source: Readable, options: PutOptions): Promise<KeptBlob>;
  /** The bytes in `range`, or all; undefined where there is no such blob. */
  read(key: string, range?: ByteRange): Promise<BlobBody | undefined>;
  /** Harmless where there is none. */
  remove(key: string): Promise<void>;
  /** Everything below `prefix`, a key's first parts with a slash at the end: for whoever looks for blobs that nobody knows. */
  list(prefix: string): AsyncIterable<ListedBlob>;
  /** Resolves where it can be used now. */
  check(): Promise<void>;
  close(): Promise<void>;
}
