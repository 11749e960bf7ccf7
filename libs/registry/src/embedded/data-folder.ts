/**
 * Who may enter the data folder: the hub's user, and the user that PostgreSQL runs as where that is
 * another one. New folders are made like that, and the data folder of an older hub is closed at the
 * next start.
 */
import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../registry-error.js';
import { findServerUser, type ServerUser } from './server-user.js';

/** Only the owner. */
const PRIVATE = 0o700;
/** The group may pass to its own subfolder, and lists nothing. */
const PRIVATE_BUT_PASSABLE = 0o710;
const OTHERS = 0o077;
const STICKY = 0o1000;

/**
 * What a hub keeps in its data folder. A folder with anything else belongs to other programs, too.
 */
const OWN_ENTRIES =
  /^(files|simulated-devices|lost\+found|(admin|audit|demo|device|events|firmware|hub|postgres)[.\w-]*)$/;

type ClosedFolder =
  | { readonly kind: 'kept' }
  | { readonly kind: 'closed'; readonly from: string; readonly to: string }
  | { readonly kind: 'open'; readonly mode: string; readonly reason: string };

/**
 * Makes the folder and the missing ones above it, so that the hub's user and the server's user may
 * enter and no others.
 */
export async function makePrivateFolder(folder: string, user: ServerUser | undefined): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: PRIVATE });
  if (first === undefined || user === undefined) return;
  for (let made = folder; made.startsWith(first); made = path.dirname(made)) {
    const { uid } = await stat(made);
    await chown(made, uid, user.gid);
    await chmod(made, PRIVATE_BUT_PASSABLE);
  }
}

/**
 * Takes the folder's entrance from other users. Never opens anything; a folder that other programs
 * share keeps its mode. `isEmbedded`: a cluster is or will be in it.
 */
export async function closeDataDir(
  dataDir: string,
  { isEmbedded }: { readonly isEmbedded: boolean },
): Promise<ClosedFolder> {
  const folder = path.resolve(dataDir);
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined || !found.isDirectory()) return { kind: 'kept' };
  const group = await groupOfServer(folder, found.uid, isEmbedded);
  const passes = group === undefined ? PRIVATE : PRIVATE_BUT_PASSABLE;
  const mode = found.mode & 0o7777;
  if ((mode & OTHERS & ~passes) === 0) return { kind: 'kept' };
  const reason = mode & STICKY ? 'it is a folder for files of all users' : await foreignEntry(folder);
  if (reason !== undefined) return { kind: 'open', mode: octal(mode), reason };
  try {
    if (group !== undefined) await chown(folder, found.uid, group);
    await chmod(folder, passes);
  } catch (error) {
    return { kind: 'open', mode: octal(mode), reason: messageOf(error) };
  }
  return { kind: 'closed', from: octal(mode), to: octal(passes) };
}

/** Undefined where the server runs as the folder's owner, or nowhere. */
async function groupOfServer(folder: string, owner: number, isEmbedded: boolean): Promise<number | undefined> {
  const cluster = await stat(path.join(folder, 'postgres')).catch(() => undefined);
  if (cluster !== undefined && cluster.uid !== 0) return cluster.uid === owner ? undefined : cluster.gid;
  return isEmbedded ? (await findServerUser())?.gid : undefined;
}

async function foreignEntry(folder: string): Promise<string | undefined> {
  const foreign = (await readdir(folder)).find((name) => !OWN_ENTRIES.test(name));
  return foreign === undefined ? undefined : `it has ${foreign} in it, which is not the hub's`;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
