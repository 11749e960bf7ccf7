/** Checks that a backup fits this version, and that the database has no data. Changes nothing. */
import type { Queryable } from '../database/database.js';
import { appliedMigrations, knownMigrations } from '../database/migrate.js';
import { queryableOf } from '../database/queryable-of.js';
import { RegistryError } from '../registry-error.js';
import { quoted, readContents } from './database-contents.js';
import type { DatabaseContents } from './database-contents.js';
import { openPlainClient } from './plain-client.js';

/** The migrations write these rows, so a database without data has them. */
export const FILLED_BY_MIGRATIONS: readonly string[] = ['recording_rule', 'tool_policy'];

export interface RestoreSource {
  readonly contents: DatabaseContents;
  /** The version of the hub that made the backup. */
  readonly hubVersion: string;
}

/** Throws RegistryError RESTORE_REFUSED, or DATABASE_UNAVAILABLE. */
export async function requireRestorable(databaseUrl: string, source: RestoreSource): Promise<void> {
  await requireKnownVersion(source);
  const client = await openPlainClient(databaseUrl);
  try {
    const db = queryableOf(client);
    await requireNoLaterMigration(db, source);
    await requireNoRows(db);
  } finally {
    await client.end();
  }
}

/** Needs no database. Throws RegistryError RESTORE_REFUSED. */
export async function requireKnownVersion({ contents, hubVersion }: RestoreSource): Promise<void> {
  const known = new Map((await knownMigrations()).map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum } of contents.migrations) {
    if (!known.has(name))
      throw refused(
        `The backup is from a newer version of Flotilla (${hubVersion}). Install that version or a newer one, ` +
          'and restore the backup with it.',
      );
    if (known.get(name) !== checksum)
      throw refused(
        `The backup is from an unreleased version of Flotilla (${hubVersion}), whose tables differ. ` +
          'Restore it with the same build.',
      );
  }
}

export async function requireNoLaterMigration(
  db: Queryable,
  { contents }: Pick<RestoreSource, 'contents'>,
): Promise<void> {
  const inBackup = new Set(contents.migrations.map(({ name }) => name));
  for (const name of (await appliedMigrations(db)).keys())
    if (!inBackup.has(name))
      throw refused(
        'A newer version of the hub has already prepared this database. Name an empty database in DATABASE_URL, ' +
          'or an empty folder in FLOTILLA_DATA_DIR.',
      );
}

export async function requireNoRows(db: Queryable): Promise<void> {
  const { tables } = await readContents(db);
  for (const { name } of tables) {
    if (FILLED_BY_MIGRATIONS.includes(name)) continue;
    const rows = await db.query({ text: `SELECT 1 FROM ${quoted(name)} LIMIT 1` }, []);
    if (rows.length > 0)
      throw refused(
        `The database already has data of a hub: the table ${name} has rows. Stop that hub, and restore into an ` +
          'empty database (DATABASE_URL) or an empty data folder (FLOTILLA_DATA_DIR).',
      );
  }
}

function refused(message: string): RegistryError {
  return new RegistryError('RESTORE_REFUSED', message);
}
