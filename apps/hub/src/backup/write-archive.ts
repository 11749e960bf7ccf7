/** Writes a backup to a file, part by part, so that memory does not grow with its size. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, link, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import tar from 'tar-stream';
import { messageOf } from '../error-message.js';
import { BackupError, HEADER_PART, JSON_BYTES_MAX, MANIFEST_PART } from './archive-format.js';
import type { BackupHeader, BackupManifest, Part, PartDigest } from './archive-format.js';
import { encrypted } from './encryption.js';

/** Only the owner can read the file, because it has secrets. */
const PRIVATE_MODE = 0o600;

interface NewArchive {
  readonly header: BackupHeader;
  readonly parts: AsyncIterable<Part>;
  /** Called after the last part. */
  readonly rows: () => BackupManifest['rows'];
  readonly passphrase: string | undefined;
  /** Aborted: the file is given up, and the reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves to the size of the file. An unfinished file has another name, and a failure removes it.
 */
export async function writeArchive(file: string, archive: NewArchive): Promise<number> {
  if (await exists(file)) throw existsAlready(file);
  // Another backup may write to the same name. A new file also follows no link of another user.
  const unfinished = `${file}.${randomUUID()}.unfinished`;
  const target = await open(unfinished, 'wx', PRIVATE_MODE).catch((error: unknown) => {
    throw notWritable(file, error);
  });
  const { passphrase, signal } = archive;
  try {
    const stream = target.createWriteStream();
    const options = signal === undefined ? {} : { signal };
    if (passphrase === undefined) await pipeline(tarOf(archive), createGzip(), stream, options);
    else await pipeline(tarOf(archive), createGzip(), (gzip) => encrypted(gzip, passphrase), stream, options);
    await flush(unfinished);
    await place(unfinished, file);
    // The name is in the folder. Some file systems refuse to flush one.
    await flush(path.dirname(file), 'r').catch(() => undefined);
    return (await stat(file)).size;
  } catch (error) {
    await rm(unfinished, { force: true });
    // The streams throw an AbortError instead.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Replaces no file that came meanwhile. */
async function place(unfinished: string, file: string): Promise<void> {
  try {
    await link(unfinished, file);
  } catch {
    if (await exists(file)) throw existsAlready(file);
    // A file system without hard links.
    return rename(unfinished, file);
  }
  await rm(unfinished);
}

function existsAlready(file: string): BackupError {
  return new BackupError(`${file} exists already. Name another file.`);
}

function notWritable(file: string, error: unknown): BackupError {
  const reason = messageOf(error);
  return new BackupError(
    `${file} cannot be written: ${reason}. Name a folder that exists, and let this user write there.`,
  );
}

async function* tarOf(archive: NewArchive): AsyncGenerator<Uint8Array> {
  const pack = tar.pack();
  const filling = fill(pack, archive).catch((error: unknown) => {
    pack.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  yield* pack;
  await filling;
}

async function fill(pack: tar.Pack, { header, parts, rows }: NewArchive): Promise<void> {
  const digests: PartDigest[] = [await add(pack, jsonPart(HEADER_PART, header))];
  for await (const part of parts) digests.push(await add(pack, part));
  await add(pack, jsonPart(MANIFEST_PART, { parts: digests, rows: rows() } satisfies BackupManifest));
  pack.finalize();
}

function jsonPart(name: string, content: BackupHeader | BackupManifest): Part {
  const bytes = Buffer.from(`${JSON.stringify(content, undefined, 1)}\n`);
  if (bytes.length > JSON_BYTES_MAX)
    throw new BackupError('There are too many stored files for one backup. Lower FLOTILLA_UPLOADS_DAYS.');
  return { name, bytes: bytes.length, body: Readable.from([bytes]) };
}

async function add(pack: tar.Pack, { name, bytes, body }: Part): Promise<PartDigest> {
  const hash = createHash('sha256');
  let isWritten: (error?: Error | null) => void = () => undefined;
  const written = new Promise<void>((resolve, reject) => {
    isWritten = (error) => (error ? reject(error) : resolve());
  });
  const entry = pack.entry({ name, size: bytes, mode: PRIVATE_MODE, mtime: new Date() }, isWritten);
  // The caller gets the error of the body. Without handlers, the same error here ends the process.
  entry.on('error', () => undefined);
  written.catch(() => undefined);
  for await (const chunk of body) {
    hash.update(chunk);
    if (!entry.write(chunk)) await Promise.race([once(entry, 'drain'), written]);
  }
  entry.end();
  await written;
  return { name, bytes, sha256: hash.digest('hex') };
}

/** A power cut after the command must not leave a file without its last bytes or its name. */
async function flush(file: string, flags = 'r+'): Promise<void> {
  const handle = await open(file, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
