/**
 * The log of the embedded PostgreSQL. It stays in the data folder, where the hub and commands of
 * root open it, one after the other.
 */
import { open, readFile, rename, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** At start a bigger log is set aside as postgres.log.1. */
const LOG_BYTES_MAX = 10 * 1024 * 1024;

/**
 * A log that a command of root makes belongs to the owner of the folder, whose hub appends to it.
 * An existing file keeps its owner: it may be a link to a file of another user.
 */
export async function openLog(logFile: string): Promise<FileHandle> {
  const made = await open(logFile, 'ax', 0o600).catch(() => undefined);
  if (made === undefined) return openExisting(logFile);
  if (process.getuid?.() === 0) {
    const { uid, gid } = await stat(path.dirname(logFile));
    await made.chown(uid, gid);
  }
  return made;
}

/** A log of another user, as a former version made it for root, does not prevent the start. */
async function openExisting(logFile: string): Promise<FileHandle> {
  try {
    return await open(logFile, 'a', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    await setAside(logFile);
    return open(logFile, 'a', 0o600);
  }
}

export async function setAsideBigLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > LOG_BYTES_MAX) await setAside(logFile);
}

function setAside(logFile: string): Promise<void> {
  return rename(logFile, `${logFile}.1`);
}

export async function endOfLog(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-10).join('\n');
}
