/** Secrets that the hub makes and keeps in its data folder, readable by its user alone. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Only the owner may read what is in these files. */
const PRIVATE_MODE = 0o600;

/** The secret in `name`, made with 32 random bytes at first. Two processes that start at once end up with the same one. */
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

/** The secret in `name`; undefined where there is none. */
export async function readSecret(dataDir: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(dataDir, name), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a secret that was made elsewhere. Replaces an older file and its mode. */
export async function writeSecret(dataDir: string, name: string, secret: string): Promise<string> {
  const file = path.join(dataDir, name);
  const aside = `${file}.${randomUUID()}`;
  await mkdir(dataDir, { recursive: true });
  await writeFile(aside, `${secret}\n`, { mode: PRIVATE_MODE, flag: 'wx' });
  await rename(aside, file);
  return file;
}
