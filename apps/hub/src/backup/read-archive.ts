/**
 * Reads a backup part by part, and compares each part with the manifest at the end. A reader that
 * came to the end without an error has seen the whole backup, unchanged.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import { messageOf } from '../error-message.js';
import {
  BackupError,
  HEADER_PART,
  headerSchema,
  JSON_BYTES_MAX,
  MANIFEST_PART,
  manifestSchema,
} from './archive-format.js';
import type { BackupHeader, BackupManifest, Part, PartDigest } from './archive-format.js';
import { decrypted } from './encryption.js';

/** Bytes of a secret. */
const SECRET_BYTES_MAX = 4_096;
const SECRETS = 'secrets/';

export interface VerifiedArchive {
  readonly header: BackupHeader;
  readonly manifest: BackupManifest;
  /** The contents of `secrets/…` by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Reads all of it, and changes nothing. Throws BackupError. */
export async function verifyArchive(
  file: string,
  passphrase: string | undefined,
  signal?: AbortSignal,
): Promise<VerifiedArchive> {
  const secrets = new Map<string, string>();
  const reader = readArchive(file, passphrase, signal);
  for await (const { name, body } of reader.parts) {
    if (name.startsWith(SECRETS)) secrets.set(name.slice(SECRETS.length), await textOf(body, SECRET_BYTES_MAX));
  }
  const { header, manifest } = reader;
  if (header === undefined || manifest === undefined) throw damaged(file, 'it has no manifest');
  return { header, manifest, secrets };
}

interface ArchiveReader {
  header: BackupHeader | undefined;
  /** Set when `parts` has ended. */
  manifest: BackupManifest | undefined;
  /** All parts but the first and the last. Each body must be read before the next part. */
  readonly parts: AsyncIterable<Part>;
}

export function readArchive(file: string, passphrase: string | undefined, signal?: AbortSignal): ArchiveReader {
  const reader: ArchiveReader = { header: undefined, manifest: undefined, parts: { [Symbol.asyncIterator]: parts } };
  async function* parts(): AsyncGenerator<Part> {
    const digests: PartDigest[] = [];
    for await (const part of entriesOf(file, passphrase)) {
      signal?.throwIfAborted();
      if (reader.manifest !== undefined) throw damaged(file, 'it goes on after its manifest');
      if (part.name === MANIFEST_PART) {
        reader.manifest = await manifestIn(file, part);
        requireSame(file, digests, reader.manifest.parts);
        continue;
      }
      const measured = measure(part, digests);
      if (reader.header === undefined) reader.header = await headerIn(file, measured);
      else yield measured;
      // A consumer may leave a body unread.
      await Readable.from(measured.body).forEach(() => undefined);
    }
    if (reader.manifest === undefined) throw damaged(file, 'its end is missing');
  }
  return reader;
}

async function* entriesOf(file: string, passphrase: string | undefined): AsyncGenerator<Part> {
  await access(file).catch((error: unknown) => {
    throw new BackupError(`${file} cannot be read. Check its name and its mode.`, { cause: error });
  });
  const extract = tar.extract();
  const source = (bytes: AsyncIterable<Uint8Array>) => decrypted(bytes, file, passphrase);
  const feeding = pipeline(createReadStream(file), source, createGunzip(), extract);
  // The loop below throws the same error.
  feeding.catch(() => undefined);
  try {
    for await (const entry of extract)
      yield { name: entry.header.name, bytes: entry.header.size ?? 0, body: readable(file, entry) };
    await feeding;
  } catch (error) {
    throw refusalOf(file, error);
  }
}

async function* readable(file: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw refusalOf(file, error);
  }
}

/** Errors of gzip, tar, age and JSON mean that the file is damaged. */
function refusalOf(file: string, error: unknown): BackupError {
  return error instanceof BackupError ? error : damaged(file, messageOf(error));
}

/** Adds the digest of the part when its body was read. */
function measure({ name, bytes, body }: Part, digests: PartDigest[]): Part {
  const hash = createHash('sha256');
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
    digests.push({ name, bytes, sha256: hash.digest('hex') });
  }
  return { name, bytes, body: read() };
}

async function headerIn(file: string, { name, body }: Part): Promise<BackupHeader> {
  if (name !== HEADER_PART) throw new BackupError(`${file} is not a backup of Flotilla.`);
  const header = headerSchema.safeParse(await jsonOf(file, body));
  if (header.success) return header.data;
  throw new BackupError(`${file} has a format that this version does not know. Restore it with a newer version.`);
}

async function manifestIn(file: string, { body }: Part): Promise<BackupManifest> {
  const manifest = manifestSchema.safeParse(await jsonOf(file, body));
  if (manifest.success) return manifest.data;
  throw damaged(file, 'its manifest is incomplete');
}

async function jsonOf(file: string, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  try {
    return JSON.parse(await textOf(body, JSON_BYTES_MAX));
  } catch (error) {
    throw refusalOf(file, error);
  }
}

function requireSame(file: string, found: readonly PartDigest[], expected: readonly PartDigest[]): void {
  for (let index = 0; index < Math.max(found.length, expected.length); index += 1) {
    const [part, wanted] = [found[index], expected[index]];
    if (part?.name !== wanted?.name || part?.bytes !== wanted?.bytes || part?.sha256 !== wanted?.sha256)
      throw damaged(file, `the part ${wanted?.name ?? part?.name ?? ''} is missing or differs from the manifest`);
  }
}

async function textOf(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`a part is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function damaged(file: string, problem: string): BackupError {
  return new BackupError(`${file} is damaged or incomplete: ${problem}. Use another copy.`);
}
