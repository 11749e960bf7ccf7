/**
 * The files of the embedded server: where the cluster lies, its password, and making it once.
 * Starting and stopping are postmaster.ts.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { messageOf, RegistryError } from '../registry-error.js';
import { exists, type Binaries } from './binaries.js';
import { makePrivateFolder } from './data-folder.js';
import { canReach, findServerUser } from './server-user.js';
import type { ServerUser } from './server-user.js';

const run = promisify(execFile);

/** The role and the database that the hub uses. */
export const ROLE = 'flotilla';

export interface Cluster {
  /** PostgreSQL's own data folder, absolute and without links. */
  readonly folder: string;
  readonly password: string;
  readonly user: ServerUser | undefined;
  /** What the operator should know, in one line. */
  readonly notice: string | undefined;
}

/**
 * Makes the cluster in the data folder, or under `sharedDir` if the user of the server cannot reach
 * it. The password is in the data folder. Throws RegistryError EMBEDDED_SERVER_FAILED.
 */
export async function openCluster(
  dataDir: string,
  sharedDir: string,
  binaries: Binaries,
  user: ServerUser | undefined,
): Promise<Cluster> {
  const { home, notice } = await chooseHome(await realpath(dataDir), sharedDir, user);
  const folder = path.join(home, 'postgres');
  const passwordFile = path.join(dataDir, 'postgres.password');
  const password = (await readFile(passwordFile, 'utf8').catch(() => '')).trim();
  if (!(await exists(path.join(folder, 'PG_VERSION')))) {
    await refuseForeignFiles(folder);
    return { folder, password: await make(folder, passwordFile, binaries, user), user, notice };
  }
  await checkVersion(folder, binaries);
  if (password === '') throw passwordMissing(passwordFile, folder);
  return { folder, password, user: await ownerOf(folder, user), notice };
}

async function chooseHome(
  dataDir: string,
  sharedDir: string,
  user: ServerUser | undefined,
): Promise<{ readonly home: string; readonly notice: string | undefined }> {
  if (user === undefined || (await canReach((await makerOf(path.join(dataDir, 'postgres'))) ?? user, dataDir)))
    return { home: dataDir, notice: undefined };
  const home = path.join(sharedDir, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
  await makePrivateFolder(home, user);
  return { home, notice: `PostgreSQL runs as another user, who cannot reach ${dataDir}: its files are in ${home}.` };
}

/**
 * Who runs the server of root: the owner of the cluster, else the system's user, who is made if
 * missing. So a command of root adds no user to a machine whose hub does not need it.
 */
export async function serverUserOf(dataDir: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await makerOf(path.join(dataDir, 'postgres'))) ?? findServerUser();
}

/**
 * The ordinary user who made the cluster, if there is one: it runs as that user, who may enter
 * where the system's cannot.
 */
async function makerOf(folder: string): Promise<ServerUser | undefined> {
  if (!(await exists(path.join(folder, 'PG_VERSION')))) return undefined;
  const { uid, gid } = await stat(folder);
  return uid === 0 ? undefined : { uid, gid };
}

/** Built aside and renamed, so that a start that is killed leaves no half cluster. */
async function make(
  folder: string,
  passwordFile: string,
  binaries: Binaries,
  user: ServerUser | undefined,
): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  const unfinished = `${folder}.unfinished`;
  const handOver = `${unfinished}.password`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(handOver, password, { mode: 0o600 });
  if (user !== undefined)
    await Promise.all([chown(unfinished, user.uid, user.gid), chown(handOver, user.uid, user.gid)]);
  try {
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const account = [`--username=${ROLE}`, `--pwfile=${handOver}`, '--auth=scram-sha-256'];
    await run(binaries.initdb, [`--pgdata=${unfinished}`, ...account, ...locale], {
      cwd: path.dirname(folder),
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
    });
  } catch (error) {
    throw new RegistryError('EMBEDDED_SERVER_FAILED', notMade(folder, messageOf(error)), { cause: error });
  } finally {
    await rm(handOver, { force: true });
  }
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await rename(unfinished, folder);
  return password;
}

/** In containers, any user id can be chosen, but initdb asks for the name of its user. */
export function notMade(folder: string, reason: string): string {
  const advice = reason.includes('could not look up effective user ID')
    ? 'The user id of the hub has no entry in the list of users (/etc/passwd). Start the hub as a user of this ' +
      'system, in the image with the id 1000, or set DATABASE_URL. '
    : '';
  return `PostgreSQL's cluster could not be made in ${folder}. ${advice}The reason: ${reason}`;
}

/** A cluster belongs to the user who created it; root runs it as that user. */
async function ownerOf(folder: string, user: ServerUser | undefined): Promise<ServerUser | undefined> {
  const { uid, gid } = await stat(folder);
  if (user !== undefined) return uid === 0 ? user : { uid, gid };
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw new RegistryError(
      'EMBEDDED_SERVER_FAILED',
      `The PostgreSQL files in ${folder} belong to the user with id ${String(uid)}: the hub ran as that user before. ` +
        'Start the hub as that user, or set FLOTILLA_DATA_DIR to another folder.',
    );
  }
  return undefined;
}

/** Rejects files that are not a cluster: the hub does not remove what it did not create. */
async function refuseForeignFiles(folder: string): Promise<void> {
  const files = await readdir(folder).catch(() => []);
  if (files.length === 0) return;
  throw new RegistryError(
    'EMBEDDED_SERVER_FAILED',
    `${folder} has files but is not a PostgreSQL cluster: PG_VERSION is missing. ` +
      'Restore it from a backup, or move it to start with an empty database.',
  );
}

async function checkVersion(folder: string, binaries: Binaries): Promise<void> {
  const version = (await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim();
  if (version === binaries.majorVersion) return;
  throw new RegistryError(
    'EMBEDDED_SERVER_FAILED',
    `The cluster in ${folder} was created by PostgreSQL ${version}, and this hub brings PostgreSQL ` +
      `${binaries.majorVersion}. Back it up with the old version of the hub (npm run backup), and restore the backup ` +
      'with this one into a new data folder (npm run restore).',
  );
}

function passwordMissing(passwordFile: string, folder: string): RegistryError {
  return new RegistryError(
    'EMBEDDED_SERVER_FAILED',
    `There is a PostgreSQL cluster in ${folder}, but its password file ${passwordFile} is missing. ` +
      'Restore the file, or move the cluster to start with an empty one.',
  );
}
