/** Encryption with a passphrase in the format of age, which the tool of that name can read, too. */
import { Readable } from 'node:stream';
import { Decrypter, Encrypter } from 'age-encryption';
import { BackupError } from './archive-format.js';

/** How every encrypted file begins. */
const AGE = Buffer.from('age-encryption.org/v1\n');
const GZIP = Buffer.from([0x1f, 0x8b]);

type Bytes = AsyncIterable<Uint8Array>;
type ByteStream = Parameters<Encrypter['encrypt']>[0] & ReadableStream<Uint8Array>;

const streamOf = (source: Bytes) => Readable.toWeb(Readable.from(source, { objectMode: false })) as ByteStream;

export async function* encrypted(source: Bytes, passphrase: string): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  yield* await encrypter.encrypt(streamOf(source));
}

/**
 * Yields the bytes of a file in the clear. Throws BackupError if the file is not a backup, or the
 * passphrase does not fit.
 */
export async function* decrypted(
  source: Bytes,
  file: string,
  passphrase: string | undefined,
): AsyncGenerator<Uint8Array> {
  const bytes = source[Symbol.asyncIterator]();
  const first = await bytes.next();
  const start = first.done ? Buffer.alloc(0) : Buffer.from(first.value);
  const whole = withStart(start, bytes);
  if (start.subarray(0, AGE.length).equals(AGE)) yield* opened(whole, file, passphrase);
  else if (!start.subarray(0, GZIP.length).equals(GZIP)) throw new BackupError(`${file} is not a backup of Flotilla.`);
  else if (passphrase !== undefined)
    throw new BackupError(
      `${file} is not encrypted, but FLOTILLA_BACKUP_PASSPHRASE is set. Unset it to use this file anyway.`,
    );
  else yield* whole;
}

async function* withStart(start: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield start;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* opened(source: Bytes, file: string, passphrase: string | undefined): AsyncGenerator<Uint8Array> {
  if (passphrase === undefined)
    throw new BackupError(`${file} is encrypted. Set FLOTILLA_BACKUP_PASSPHRASE to its passphrase.`);
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const clear = await decrypter.decrypt(streamOf(source)).catch((error: unknown) => {
    throw new BackupError(`FLOTILLA_BACKUP_PASSPHRASE is not the passphrase of ${file}, or its beginning is damaged.`, {
      cause: error,
    });
  });
  yield* clear;
}
