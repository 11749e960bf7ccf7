/**
 * Blobs as objects of an S3-compatible bucket, below a prefix. An object appears as a whole when
 * its last part has arrived.
 */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { pipeline, Readable } from 'node:stream';
import { assertBlobKey, isBlobKey } from './blob-key.js';
import type { BlobBody, BlobStore, ByteRange, KeptBlob, ListedBlob, PutOptions } from './blob-store.js';
import { MeasuredStream } from './measured-stream.js';
import { StorageError } from './storage-error.js';

/** Bytes of a put in memory: the smallest part that S3 accepts. */
const PART_BYTES = 5 * 1024 * 1024;

/** The time for a connection, and for its next byte, ms. */
const CONNECT_WITHIN_MS = 5_000;
const SILENCE_MAX_MS = 10_000;
/** Boards give a download up after 30 s without a byte. */
const ATTEMPTS_MAX = 2;

export interface S3Options {
  readonly bucket: string;
  /** Prefix of every key; empty, or with a trailing slash. */
  readonly prefix: string;
  readonly region: string;
  /** The address of another store than Amazon's, which uses paths instead of host names. */
  readonly endpoint?: string;
  /** By default those of the environment (`AWS_*`) or of the machine. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The time for an answer, and for its next byte, ms: 10 s unless given. */
  readonly silenceMaxMs?: number | undefined;
}

export class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  /** Its sockets are idle while a board erases flash, and each download has one. */
  readonly #reader: S3Client;
  readonly #silenceMaxMs: number;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ bucket, prefix, region, endpoint, credentials, silenceMaxMs = SILENCE_MAX_MS }: S3Options) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#silenceMaxMs = silenceMaxMs;
    const shared = {
      region,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(credentials && { credentials }),
      // Avoids checksums of Amazon's newest form, which other stores do not support; the transport
      // has its own.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: ATTEMPTS_MAX,
    } as const;
    const connectionTimeout = CONNECT_WITHIN_MS;
    this.#client = new S3Client({ ...shared, requestHandler: { connectionTimeout, socketTimeout: silenceMaxMs } });
    const answer = { connectionTimeout, requestTimeout: silenceMaxMs, throwOnRequestTimeout: true };
    const agents = { httpAgent: { maxSockets: Infinity }, httpsAgent: { maxSockets: Infinity } };
    this.#reader = new S3Client({ ...shared, requestHandler: { ...answer, ...agents } });
  }

  async put(key: string, source: Readable, { contentType, maxBytes }: PutOptions): Promise<KeptBlob> {
    const place = this.#placeOf(key);
    const measure = new MeasuredStream(maxBytes);
    let sourceError: unknown;
    // The upload receives errors of either through `measure`; pipeline requires the callback.
    const body = pipeline(
      source.once('error', (error) => (sourceError = error)),
      measure,
      () => undefined,
    );
    try {
      const params = { ...place, Body: body, ContentType: contentType };
      await new Upload({ client: this.#client, params, partSize: PART_BYTES, queueSize: 1 }).done();
      return measure.measured();
    } catch (error) {
      source.destroy();
      if (sourceError !== undefined) throw sourceError;
      throw error instanceof StorageError ? error : this.#unavailable(error);
    }
  }

  async read(key: string, range?: ByteRange): Promise<BlobBody | undefined> {
    const place = this.#placeOf(key);
    const Range = range && `bytes=${range.start}-${range.end}`;
    try {
      const { Body, ContentLength, ContentRange, ETag, LastModified } = await this.#reader.send(
        new GetObjectCommand({ ...place, ...(Range && { Range }) }),
      );
      if (!(Body instanceof Readable)) throw new TypeError('the answer has no body');
      const sizeBytes = Number(ContentRange?.split('/')[1] ?? ContentLength);
      const body = unlessSilent(Body, this.#silenceMaxMs);
      return { body, sizeBytes, version: `${ETag ?? ''}-${sizeBytes}-${LastModified?.getTime() ?? ''}` };
    } catch (error) {
      if (error instanceof Error && error.name === 'NoSuchKey') return undefined;
      throw this.#unavailable(error);
    }
  }

  async remove(key: string): Promise<void> {
    const place = this.#placeOf(key);
    await this.#orUnavailable(() => this.#client.send(new DeleteObjectCommand(place)));
  }

  async *list(prefix: string): AsyncIterable<ListedBlob> {
    try {
      const within = { Bucket: this.#bucket, Prefix: this.#prefix + prefix };
      for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, within)) {
        for (const { Key, LastModified } of Contents) {
          const key = Key?.slice(this.#prefix.length);
          if (key !== undefined && isBlobKey(key) && LastModified !== undefined) yield { key, keptAt: LastModified };
        }
      }
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  async check(): Promise<void> {
    await this.#orUnavailable(() => this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket })));
  }

  close(): Promise<void> {
    this.#client.destroy();
    this.#reader.destroy();
    return Promise.resolve();
  }

  #placeOf(key: string): { readonly Bucket: string; readonly Key: string } {
    assertBlobKey(key);
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }

  async #orUnavailable<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  #unavailable(cause: unknown): StorageError {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    return new StorageError('STORAGE_UNAVAILABLE', `The bucket ${this.#bucket} for files cannot be used: ${reason}`, {
      cause,
    });
  }
}

/** Fails after a silence of the bucket, which counts only while the reader waits. */
function unlessSilent(source: Readable, silenceMaxMs: number): Readable {
  const silent = () => source.destroy(new Error(`The bucket sent nothing for ${silenceMaxMs} ms.`));
  async function* chunks(): AsyncGenerator<unknown> {
    const reader = source[Symbol.asyncIterator]();
    for (;;) {
      const timer = setTimeout(silent, silenceMaxMs);
      const next = await reader.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  }
  const body = Readable.from(chunks(), { objectMode: false });
  source.on('error', (error) => body.destroy(error));
  body.once('close', () => source.destroy());
  return body;
}
