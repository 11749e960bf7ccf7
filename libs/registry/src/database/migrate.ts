/**
 * Brings a database to the schema of this version, at every start.
 * Processes that start together take turns. A process that dies during a migration leaves no trace.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { messageOf, RegistryError } from '../registry-error.js';
import { CONNECT_TIMEOUT_MS } from './database.js';
import type { Queryable } from './database.js';
import { queryableOf } from './queryable-of.js';
import { keepSessionAlive } from './half-open-connections.js';
import { openPool } from './open-pool.js';
import { addressOf } from './postgres-url.js';
import { applyMigrations, scriptsEnded } from './schema-engine.js';
import type { Migration } from './schema-engine.js';

/** The same from src/database and from dist/database. */
const ownFolder = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));

/** A number that no other program uses for advisory locks in this database. */
export const MIGRATION_LOCK = 4_607_182_418;

/** The oldest version with all that this schema needs of partitioned tables. */
const SERVER_VERSION_MIN = 150_000;

export interface AppliedMigration {
  readonly name: string;
  /** SHA-256 of its SQL in hex. */
  readonly checksum: string;
}

interface MigrateOptions {
  readonly folder?: string;
  /** The names of the migrations to apply; by default all. */
  readonly only?: ReadonlySet<string>;
  /** Receives what the migrations wait for: another process, or transactions that use a table. */
  readonly onWait?: (reason: string) => void;
}

/**
 * Resolves to the names of the applied migrations. Throws RegistryError DATABASE_UNAVAILABLE,
 * DATABASE_TOO_OLD, DATABASE_REFUSED or MIGRATION_FAILED.
 */
export async function migrate(
  databaseUrl: string,
  { folder = ownFolder, only, onWait = () => undefined }: MigrateOptions = {},
): Promise<readonly string[]> {
  const migrations = (await readMigrations(folder)).filter(({ name }) => only === undefined || only.has(name));
  const pool = openPool(databaseUrl, { max: 3, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, verify: keepSessionAlive });
  pool.on('error', () => undefined);
  try {
    return await migrateInTurn(pool, migrations, { address: addressOf(databaseUrl), onWait });
  } finally {
    await pool.end();
  }
}

async function migrateInTurn(
  pool: pg.Pool,
  migrations: readonly Migration[],
  { address, onWait }: { readonly address: string; readonly onWait: (reason: string) => void },
): Promise<readonly string[]> {
  const lock = await connect(pool, address);
  // Its next statement rejects, too. An unhandled error event would end the process.
  lock.on('error', () => undefined);
  try {
    await requireServerVersion(lock);
    await requirePrivileges(lock, address);
    await takeTurn(lock, onWait);
    await scriptsEnded(lock);
    await forgetUnfinished(lock);
    const applied = await appliedMigrations(queryableOf(lock));
    requireSameHistory(applied, migrations, address);
    if (migrations.every(({ name, sql }) => applied.get(name) === checksumOf(sql))) return [];
    return await applyMigrations(pool, migrations, onWait);
  } catch (error) {
    if (error instanceof RegistryError) throw error;
    throw new RegistryError(
      'MIGRATION_FAILED',
      `The database at ${address} could not be brought to this version's schema: ${messageOf(error)}`,
      { cause: error },
    );
  } finally {
    // Ends the session, and the lock with it.
    lock.release(true);
  }
}

async function connect(pool: pg.Pool, address: string): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw new RegistryError(
      'DATABASE_UNAVAILABLE',
      `Cannot connect to PostgreSQL at ${address}: ${messageOf(error)}. ` +
        'Check that it runs, and that DATABASE_URL has its address, user, password and database.',
      { cause: error },
    );
  }
}

async function requireServerVersion(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version`,
  );
  const server = rows[0];
  if (server === undefined || server.number < SERVER_VERSION_MIN) {
    throw new RegistryError(
      'DATABASE_TOO_OLD',
      `PostgreSQL ${server?.version ?? '(unknown)'} is too old: Flotilla needs 15 or newer. ` +
        'Upgrade it, or remove DATABASE_URL to use the PostgreSQL that comes with the hub.',
    );
  }
}

async function takeTurn(lock: pg.PoolClient, onWait: (reason: string) => void): Promise<void> {
  const tried = await lock.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK]);
  if (tried.rows[0]?.taken === true) return;
  onWait('another process migrates or restores this database; waiting until it has finished');
  await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
}

/** Checked first: the engine's own error for a missing privilege is a page of internals. */
async function requirePrivileges(client: pg.PoolClient, address: string): Promise<void> {
  const { rows } = await client.query<{ role: string; suffices: boolean }>(
    `SELECT current_user AS role,
            has_database_privilege(current_database(), 'CREATE')
              AND has_schema_privilege('public', 'CREATE') AS suffices`,
  );
  if (rows[0]?.suffices === true) return;
  throw new RegistryError(
    'DATABASE_REFUSED',
    `The user "${rows[0]?.role ?? '(unknown)'}" may not create schemas in the database at ${address} and tables in ` +
      `its schema "public", which the hub does at start. Make that user the owner of the database.`,
  );
}

/** Checksums of the applied migrations by name. Comparing them saves most starts the engine. */
export async function appliedMigrations(db: Queryable): Promise<ReadonlyMap<string, string>> {
  if (!(await hasHistory(db))) return new Map();
  const rows = await db.query<{ name: string; checksum: string }>(
    {
      text: `SELECT migration_name AS name, checksum FROM "_prisma_migrations"
             WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
    },
    [],
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/** A script and its mark are one transaction: without the mark, nothing of the script happened. */
async function forgetUnfinished(client: pg.PoolClient): Promise<void> {
  if (await hasHistory(queryableOf(client)))
    await client.query('DELETE FROM "_prisma_migrations" WHERE finished_at IS NULL AND rolled_back_at IS NULL');
}

async function hasHistory(db: Queryable): Promise<boolean> {
  const [table] = await db.query<{ name: string | null }>(
    { text: `SELECT to_regclass('_prisma_migrations')::text AS name` },
    [],
  );
  return typeof table?.name === 'string';
}

/**
 * Databases of unreleased versions have other migrations, and no path leads from those to these.
 */
function requireSameHistory(
  applied: ReadonlyMap<string, string>,
  [first]: readonly Migration[],
  address: string,
): void {
  if (applied.size === 0 || first === undefined || applied.has(first.name)) return;
  throw new RegistryError(
    'MIGRATION_FAILED',
    `The database at ${address} was created by an unreleased version of Flotilla, which cannot be upgraded. ` +
      'Start with an empty database: move the data folder to another place, or name another database in DATABASE_URL.',
  );
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}

/** The migrations of this version with their SQL, in order. */
export function ownMigrations(): Promise<readonly Migration[]> {
  return readMigrations(ownFolder);
}

/** The migrations of this version, in order. */
export async function knownMigrations(): Promise<readonly AppliedMigration[]> {
  return (await ownMigrations()).map(({ name, sql }) => ({ name, checksum: checksumOf(sql) }));
}

async function readMigrations(migrationsDir: string): Promise<readonly Migration[]> {
  const entries = await readdir(migrationsDir, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return Promise.all(
    names.map(async (name) => ({ name, sql: await readFile(path.join(migrationsDir, name, 'migration.sql'), 'utf8') })),
  );
}
