/**
 * Reads the whole database in one snapshot, also while hubs use it. COPY replaces pg_dump, which
 * the embedded server does not have.
 */
import type { Readable } from 'node:stream';
import type pg from 'pg';
import { to } from 'pg-copy-streams';
import { databaseError } from '../database/database.js';
import { MIGRATION_LOCK } from '../database/migrate.js';
import { queryableOf } from '../database/queryable-of.js';
import { RegistryError } from '../registry-error.js';
import { columnList, quoted, readContents } from './database-contents.js';
import type { DatabaseContents, TableContents } from './database-contents.js';
import { pauseUpkeep } from './pause-upkeep.js';
import { openPlainClient } from './plain-client.js';

/** For a step of the upkeep of measurements. */
const UPKEEP_WAIT_MS = 10_000;
const MIGRATING = 'Another process migrates or restores this database. The backup begins when that has ended.';
const INCOMPLETE =
  'A day of measurements is being packed: some of its points may be missing from this backup. Make another one later.';

/** The rows of a table in the text format of COPY. */
interface DumpedTable extends Readable {
  /** Known at the end of the stream. */
  readonly rowCount: number;
}

export interface DatabaseDump {
  readonly contents: DatabaseContents;
  /** One table at a time. */
  rowsOf(table: TableContents): DumpedTable;
  /** Ends the snapshot and the pause of the upkeep. */
  close(): Promise<void>;
}

/**
 * Throws RegistryError DATABASE_UNAVAILABLE, or DATABASE_REFUSED for a database without the tables
 * of a hub.
 */
export async function openDatabaseDump(
  databaseUrl: string,
  warn: (message: string) => void = () => undefined,
  upkeepWaitMs = UPKEEP_WAIT_MS,
): Promise<DatabaseDump> {
  const client = await openPlainClient(databaseUrl);
  try {
    // Before the snapshot, so that it does not begin in the middle of a step.
    if (!(await pauseUpkeep(queryableOf(client), upkeepWaitMs))) warn(INCOMPLETE);
    await excludeMigrations(client, warn);
    const { migrations, tables } = await readContents(queryableOf(client));
    if (migrations.length === 0)
      throw new RegistryError(
        'DATABASE_REFUSED',
        'This database has no tables of a hub. Check DATABASE_URL and FLOTILLA_DATA_DIR.',
      );
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    // Before the snapshot: in one that is older, a table that was written again has no rows.
    await client.query(`LOCK TABLE ${tables.map(({ name }) => quoted(name)).join(', ')} IN ACCESS SHARE MODE`);
    const contents = await readContents(queryableOf(client));
    await client.query('SELECT pg_advisory_unlock_shared($1)', [MIGRATION_LOCK]);
    return {
      contents,
      rowsOf: (table) =>
        client.query(to(`COPY (SELECT ${columnList(table)} FROM ${quoted(table.name)}) TO STDOUT`)) as DumpedTable,
      close: () => client.end(),
    };
  } catch (error) {
    await client.end().catch(() => undefined);
    throw databaseError(error);
  }
}

/** Until the tables are locked. From then on, a migration waits for the tables themselves. */
async function excludeMigrations(client: pg.Client, warn: (message: string) => void): Promise<void> {
  const text = 'SELECT pg_try_advisory_lock_shared($1) AS taken';
  const { rows } = await client.query<{ taken: boolean }>(text, [MIGRATION_LOCK]);
  if (rows[0]?.taken === true) return;
  warn(MIGRATING);
  await client.query('SELECT pg_advisory_lock_shared($1)', [MIGRATION_LOCK]);
}
