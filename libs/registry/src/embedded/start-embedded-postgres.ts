/**
 * The PostgreSQL that the hub brings along: made at the first start, found again at the next,
 * stopped last. Applies no migrations.
 */
import path from 'node:path';
import pg from 'pg';
import { messageOf, RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import { findBinaries } from './binaries.js';
import { openCluster, ROLE, serverUserOf } from './cluster.js';
import type { Cluster } from './cluster.js';
import { lockDataDir } from './hub-lock.js';
import { KeptPostmaster } from './kept-postmaster.js';
import { findRunning, runPostmaster } from './postmaster.js';
import type { Postmaster } from './postmaster.js';
import type { ServerUser } from './server-user.js';

interface EmbeddedPostgresOptions {
  /** Folder of this hub's data; made if missing. */
  readonly dataDir: string;
  /** Where cluster and programs go that the server's user cannot reach in the data folder. */
  readonly sharedDir?: string;
  /** Settings of PostgreSQL before the hub's own, e.g. for a server that need not last. */
  readonly settings?: Readonly<Record<string, string>>;
  /** With it, a server that ends by itself is started again, and this is logged. */
  readonly logger?: RegistryLogger;
}

export interface EmbeddedPostgres {
  /** The same while the server is started again. */
  readonly databaseUrl: string;
  /** The server process, for those who must find it after a crash. */
  readonly pid: number;
  /** A notice for the operator, in one line. */
  readonly notice: string | undefined;
  /**
   * Stops the server when everything else is closed, and gives the data folder free. Idempotent.
   */
  stop(): Promise<void>;
}

const SHARED_DIR = '/var/lib/flotilla';

/**
 * Throws RegistryError DATA_DIR_IN_USE when another hub works on this folder, else
 * EMBEDDED_SERVER_FAILED.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  const user = await serverUserOf(dataDir);
  const unlock = await lockDataDir(dataDir, user);
  try {
    return await start({ ...options, dataDir }, user, unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** Where the server of this folder can be reached that a hub runs. Undefined: it does not run. */
export async function findEmbeddedPostgres({
  sharedDir = SHARED_DIR,
  ...options
}: EmbeddedPostgresOptions): Promise<string | undefined> {
  const dataDir = path.resolve(options.dataDir);
  const user = await serverUserOf(dataDir);
  const cluster = await openCluster(dataDir, sharedDir, await findBinaries(user, sharedDir, dataDir), user);
  const postmaster = await findRunning(cluster.folder);
  return postmaster && urlOf(cluster, postmaster, ROLE);
}

async function start(
  { dataDir, sharedDir = SHARED_DIR, settings, logger }: EmbeddedPostgresOptions,
  user: ServerUser | undefined,
  unlock: () => Promise<void>,
): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries(user, sharedDir, dataDir);
  const cluster = await openCluster(dataDir, sharedDir, binaries, user);
  const options = { logFile: path.join(dataDir, 'postgres.log'), settings };
  const postmaster = await runPostmaster(cluster, binaries, options);
  try {
    await ensureDatabase(cluster, postmaster);
  } catch (error) {
    throw new RegistryError(
      'EMBEDDED_SERVER_FAILED',
      `The embedded PostgreSQL on port ${String(postmaster.port)} does not let us in: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  const kept = new KeptPostmaster(postmaster, (port) => runPostmaster(cluster, binaries, { ...options, port }), logger);
  let stopped: Promise<void> | undefined;
  return {
    databaseUrl: urlOf(cluster, postmaster, ROLE),
    get pid() {
      return kept.pid;
    },
    notice: cluster.notice,
    stop: () => (stopped ??= kept.stop().finally(unlock)),
  };
}

/**
 * Also the last proof that an adopted server is ours: it knows the password and names the folder.
 */
async function ensureDatabase(cluster: Cluster, postmaster: Postmaster): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(cluster, postmaster, 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ folder: string; exists: boolean }>(
      `SELECT current_setting('data_directory') AS folder,
         EXISTS (SELECT FROM pg_database WHERE datname = $1) AS exists`,
      [ROLE],
    );
    if (rows[0]?.folder !== cluster.folder) {
      throw new RegistryError(
        'EMBEDDED_SERVER_FAILED',
        `it works on ${rows[0]?.folder ?? 'nothing'}, not on ${cluster.folder}`,
      );
    }
    if (!rows[0].exists) await client.query(`CREATE DATABASE "${ROLE}"`);
  } finally {
    await client.end();
  }
}

function urlOf(cluster: Cluster, postmaster: Postmaster, database: string): string {
  return `postgres://${ROLE}:${cluster.password}@127.0.0.1:${String(postmaster.port)}/${database}`;
}
