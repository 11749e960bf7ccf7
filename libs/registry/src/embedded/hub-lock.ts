/**
 * One hub per data folder: a lock file that names the process holding it. The lock of a process
 * that is gone is taken over.
 */
import { randomUUID } from 'node:crypto';
import { chmod, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, RegistryError } from '../registry-error.js';
import { makePrivateFolder } from './data-folder.js';
import { isSameProcess, startMark } from './process-identity.js';
import type { ServerUser } from './server-user.js';

/** Taking over races with other starts at most this often before it counts as "in use". */
const ATTEMPTS_MAX = 5;

/**
 * It has no secret. After a command of root was killed, the user of the hub must be able to judge
 * the lock, and the folder keeps others out.
 */
const READABLE = 0o644;

/** Resolves to the function that gives the folder free. Throws RegistryError DATA_DIR_IN_USE. */
export async function lockDataDir(dataDir: string, user: ServerUser | undefined): Promise<() => Promise<void>> {
  try {
    await makePrivateFolder(dataDir, user);
  } catch (error) {
    throw notWritable(dataDir, error);
  }
  const file = path.join(dataDir, 'hub.lock');
  const own = JSON.stringify({ pid: process.pid, startMark: await startMark(process.pid), id: randomUUID() });
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (await tryCreate(dataDir, file, own)) return async () => release(file, own);
    const holder = await readHolder(dataDir, file);
    const pid = await livePid(holder);
    if (pid !== undefined) throw inUse(dataDir, pid);
    await removeStale(file, holder);
  }
  throw inUse(dataDir, undefined);
}

/**
 * Empty where the lock has just been removed. One that cannot be read, as former versions made it
 * for another user, counts as held.
 */
async function readHolder(dataDir: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') throw inUse(dataDir, undefined);
    return '';
  }
}

/** Written under another name and linked, so that no process reads an empty lock. */
async function tryCreate(dataDir: string, file: string, content: string): Promise<boolean> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await writeFile(aside, content, { flag: 'wx' });
    await chmod(aside, READABLE);
    await link(aside, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw notWritable(dataDir, error);
  } finally {
    await rm(aside, { force: true });
  }
}

/**
 * Only the file that was judged goes: another start may have replaced it meanwhile, and gets its
 * lock back.
 */
async function removeStale(file: string, judged: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8')) !== judged) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
}

async function release(file: string, own: string): Promise<void> {
  const content = await readFile(file, 'utf8').catch(() => undefined);
  if (content === own) await rm(file, { force: true });
}

/** The holder's pid while that very process lives. */
async function livePid(content: string): Promise<number | undefined> {
  const holder = parse(content);
  return holder && (await isSameProcess(holder.pid, holder.startMark)) ? holder.pid : undefined;
}

/** The id of the hub process that uses the data folder; undefined if none runs. */
export async function hubProcessOf(dataDir: string): Promise<number | undefined> {
  return livePid(await readFile(path.join(dataDir, 'hub.lock'), 'utf8').catch(() => ''));
}

function parse(content: string): { readonly pid: number; readonly startMark: string } | undefined {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value !== 'object' || value === null || !('pid' in value) || !('startMark' in value)) return undefined;
    return typeof value.pid === 'number' && typeof value.startMark === 'string'
      ? { pid: value.pid, startMark: value.startMark }
      : undefined;
  } catch {
    return undefined;
  }
}

function notWritable(dataDir: string, error: unknown): RegistryError {
  return new RegistryError(
    'EMBEDDED_SERVER_FAILED',
    `The data folder ${dataDir} cannot be used: ${messageOf(error)}. ` +
      'Let the user of the hub write there, or set FLOTILLA_DATA_DIR to another folder.',
    { cause: error },
  );
}

function inUse(dataDir: string, pid: number | undefined): RegistryError {
  const holder = pid === undefined ? 'another hub' : `the hub with process id ${String(pid)}`;
  return new RegistryError(
    'DATA_DIR_IN_USE',
    `The data folder ${dataDir} is in use by ${holder}. Stop it, or give this one another FLOTILLA_DATA_DIR.`,
  );
}
