/** PostgreSQL refuses to run as root, so a hub of root runs it as the user postgres. */
import { execFile } from 'node:child_process';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { messageOf, RegistryError } from '../registry-error.js';

const run = promisify(execFile);

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

const NAME = 'postgres';

/** Undefined if this process is not root. Creates the user if it does not exist. */
export async function findServerUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const known = await lookUp();
  if (known !== undefined) return known;
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME]);
  } catch (error) {
    throw new RegistryError(
      'EMBEDDED_SERVER_FAILED',
      `PostgreSQL does not run as root, and the user "${NAME}" could not be created (${messageOf(error)}). ` +
        'Start the hub as an ordinary user, or set DATABASE_URL.',
      { cause: error },
    );
  }
  const made = await lookUp();
  if (made === undefined)
    throw new RegistryError('EMBEDDED_SERVER_FAILED', `The user "${NAME}" was made but is not in /etc/passwd.`);
  return made;
}

async function lookUp(): Promise<ServerUser | undefined> {
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name === NAME && uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

/**
 * Whether the user may enter this folder and all folders above it, by their modes. What does not
 * exist yet is judged by its nearest existing parent.
 */
export async function canReach(user: ServerUser, folder: string): Promise<boolean> {
  let current = await realpath(await nearestExisting(folder));
  for (;;) {
    const { mode, uid, gid } = await stat(current);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    const parent = path.dirname(current);
    if (parent === current) return true;
    current = parent;
  }
}

async function nearestExisting(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch {
    return nearestExisting(path.dirname(path.resolve(folder)));
  }
}
