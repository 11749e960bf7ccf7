/** Secrets in files of the data folder that only the user of the hub can read. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Only the owner can read the file. */
const PRIVATE_MODE = 0o600;

/**
 * Returns the secret in the file, created with 32 random bytes when it is missing. Two processes
 * that start at once get the same secret.
 */
export async function keepSecret(dataDir: string, name: string): Promise<string> {
  const file = path.join(dataDir, name);
  await mkdir(dataDir, { recursive: true });
  try {
    await writeFile(file, `${randomBytes(32).toString('base64url')}\n`, { mode: PRIVATE_MODE, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return (await readFile(file, 'utf8')).trim();
}

/** Returns the secret in the file; undefined when there is no file. */
export async function readSecret(dataDir: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(dataDir, name), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a given secret. Replaces an older file and its mode. */
export async function writeSecret(dataDir: string, name: string, secret: string): Promise<string> {
  const file = path.join(dataDir, name);
  const aside = `${file}.${randomUUID()}`;
  await mkdir(dataDir, { recursive: true });
  await writeFile(aside, `${secret}\n`, { mode: PRIVATE_MODE, flag: 'wx' });
  await rename(aside, file);
  return file;
}
