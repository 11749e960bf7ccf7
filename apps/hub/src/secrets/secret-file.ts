/** Secrets in files of the data folder that only the user of the hub can read. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Only the owner can read the file. */
const PRIVATE_MODE = 0o600;

/** The file of a secret has no content. Signatures with an empty secret could be made by anyone. */
class EmptySecretError extends Error {
  readonly code = 'SECRET_EMPTY';

  constructor(file: string) {
    super(
      `${file} is empty, as after a full disk or a power cut. Restore it from a backup. ` +
        'If this hub has never run, delete it, and the next start makes a new one.',
    );
    this.name = 'EmptySecretError';
  }
}

/** The data folder cannot be read or written. */
class DataFolderError extends Error {
  readonly code = 'DATA_FOLDER_UNUSABLE';

  constructor(dataDir: string, cause: unknown) {
    super(
      `The data folder ${dataDir} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}. ` +
        'Let the user of the hub write there, or set FLOTILLA_DATA_DIR to another folder.',
      { cause },
    );
    this.name = 'DataFolderError';
  }
}

/**
 * Returns the secret in the file, created with 32 random bytes when it is missing. Two processes
 * that start at once get the same secret. Rejects with EmptySecretError or DataFolderError.
 */
export async function keepSecret(dataDir: string, name: string): Promise<string> {
  const found = (await readSecret(dataDir, name)) ?? (await makeSecret(dataDir, name));
  if (found === '') throw new EmptySecretError(path.join(dataDir, name));
  return found;
}

/** Written under another name and linked, so that no process and no crash sees half a file. */
async function makeSecret(dataDir: string, name: string): Promise<string> {
  const file = path.join(dataDir, name);
  const aside = await writeAside(file, randomBytes(32).toString('base64url'));
  try {
    await link(aside, file);
  } catch {
    // Another process was first, or the file system has no hard links.
    if ((await readSecret(dataDir, name)) === undefined) await rename(aside, file);
  } finally {
    await rm(aside, { force: true });
  }
  return (await readSecret(dataDir, name)) ?? '';
}

async function writeAside(file: string, secret: string): Promise<string> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(aside, `${secret}\n`, { mode: PRIVATE_MODE, flag: 'wx', flush: true });
    return aside;
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw new DataFolderError(path.dirname(file), error);
  }
}

/** Returns the secret in the file; undefined when there is no file. */
export async function readSecret(dataDir: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(dataDir, name), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new DataFolderError(dataDir, error);
  }
}

/** Writes a given secret. Replaces an older file and its mode. */
export async function writeSecret(dataDir: string, name: string, secret: string): Promise<string> {
  const file = path.join(dataDir, name);
  await rename(await writeAside(file, secret), file);
  return file;
}
