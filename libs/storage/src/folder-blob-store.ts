/**
 * Blobs as files below one folder. A file is written under a temporary name, flushed and renamed,
 * so that a crash leaves the whole file or nothing.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { assertBlobKey, isBlobKey } from './blob-key.js';
import type { BlobBody, BlobStore, ByteRange, KeptBlob, ListedBlob, PutOptions } from './blob-store.js';
import { MeasuredStream } from './measured-stream.js';
import { StorageError } from './storage-error.js';

/** The folder of unfinished files; no key begins like it. */
export const INCOMING_FOLDER = '.incoming';

/**
 * An unfinished file without writes for this long belongs to a process that has ended, ms: other
 * processes may share the folder.
 */
const LEFTOVER_AFTER_MS = 15 * 60_000;

/** What to do where a folder cannot be opened. */
const LET_WRITE = '. Let the user of the hub write there, or set FLOTILLA_STORAGE_URL to another folder.';
const LET_READ = '. Let this user read there, and set FLOTILLA_STORAGE_URL and FLOTILLA_DATA_DIR as for the hub.';

interface FolderOptions {
  readonly folder: string;
  /** Whether no other process writes below the folder: all unfinished files are leftovers. */
  readonly isAlone?: boolean;
  /** Whether only files are read: the folder must exist, and needs no right to write. */
  readonly isReadOnly?: boolean;
}

export class FolderBlobStore implements BlobStore {
  private constructor(private readonly folder: string) {}

  /** Creates the folder if it is missing, and removes unfinished files of earlier processes. */
  static async open({ folder, isAlone = false, isReadOnly = false }: FolderOptions): Promise<FolderBlobStore> {
    const store = new FolderBlobStore(path.resolve(folder));
    await store.#orUnavailable(
      async () => {
        // The hub makes this folder: it is missing where a disk is not mounted.
        if (isReadOnly) return access(store.#incoming, constants.R_OK | constants.X_OK);
        await mkdir(store.#incoming, { recursive: true });
        await store.#requireAccess();
        await store.#removeLeftovers(isAlone ? Infinity : Date.now() - LEFTOVER_AFTER_MS);
      },
      isReadOnly ? LET_READ : LET_WRITE,
    );
    return store;
  }

  async put(key: string, source: Readable, { maxBytes }: PutOptions): Promise<KeptBlob> {
    const file = this.#fileOf(key);
    const unfinished = path.join(this.#incoming, randomUUID());
    const measure = new MeasuredStream(maxBytes);
    let sourceError: unknown;
    source.once('error', (error) => (sourceError = error));
    try {
      await writeFlushed(unfinished, source, measure);
      await mkdir(path.dirname(file), { recursive: true });
      await rename(unfinished, file);
      await flushFolder(path.dirname(file));
      return measure.measured();
    } catch (error) {
      source.destroy();
      await rm(unfinished, { force: true });
      throw error === sourceError || error instanceof StorageError ? error : this.#unavailable(error);
    }
  }

  async read(key: string, range?: ByteRange): Promise<BlobBody | undefined> {
    const file = this.#fileOf(key);
    return this.#orUnavailable(async () => {
      const handle = await open(file).catch(unlessMissing);
      if (handle === undefined) return undefined;
      try {
        const { size, ino, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
        // Times can be set back, except ctime; the inode changes if the file is replaced.
        return {
          body: handle.createReadStream(range),
          sizeBytes: Number(size),
          version: `${ino}-${size}-${mtimeNs}-${ctimeNs}`,
        };
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  async remove(key: string): Promise<void> {
    const file = this.#fileOf(key);
    await this.#orUnavailable(() => rm(file, { force: true }));
  }

  async *list(prefix: string): AsyncIterable<ListedBlob> {
    const folder = path.join(this.folder, prefix);
    const entries = await this.#orUnavailable(() => readdir(folder, { withFileTypes: true }).catch(unlessMissing));
    for (const entry of entries ?? []) {
      const key = `${prefix}${entry.name}`;
      // Not the folder of unfinished files, nor what a mounted disk has, such as lost+found.
      if (!isBlobKey(key)) continue;
      if (entry.isDirectory()) yield* this.list(`${key}/`);
      if (!entry.isFile()) continue;
      const about = await this.#orUnavailable(() => stat(path.join(folder, entry.name)).catch(unlessMissing));
      if (about !== undefined) yield { key, keptAt: about.mtime };
    }
  }

  async check(): Promise<void> {
    await this.#orUnavailable(() => this.#requireAccess());
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #requireAccess(): Promise<void> {
    return access(this.#incoming, constants.R_OK | constants.W_OK | constants.X_OK);
  }

  get #incoming(): string {
    return path.join(this.folder, INCOMING_FOLDER);
  }

  async #removeLeftovers(olderThanMs: number): Promise<void> {
    for (const name of await readdir(this.#incoming)) {
      const file = path.join(this.#incoming, name);
      const about = await stat(file).catch(unlessMissing);
      if (about !== undefined && about.mtimeMs < olderThanMs) await rm(file, { force: true });
    }
  }

  #fileOf(key: string): string {
    assertBlobKey(key);
    return path.join(this.folder, key);
  }

  async #orUnavailable<Result>(act: () => Promise<Result>, advice = ''): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      throw error instanceof StorageError ? error : this.#unavailable(error, advice);
    }
  }

  #unavailable(cause: unknown, advice = ''): StorageError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The folder ${this.folder} for files cannot be used: ${reason}${advice}`;
    return new StorageError('STORAGE_UNAVAILABLE', message, { cause });
  }
}

async function writeFlushed(file: string, source: Readable, measure: MeasuredStream): Promise<void> {
  const handle = await open(file, 'wx');
  // The stream flushes before it closes the handle, and always closes it.
  await pipeline(source, measure, handle.createWriteStream({ flush: true }));
}

/** The new name must be on disk before the caller is notified. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
    return undefined;
  throw error;
}
