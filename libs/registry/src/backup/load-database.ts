/**
 * Fills an empty database from a backup: the migrations of the backup, all rows in one transaction,
 * then the migrations of this version.
 */
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from } from 'pg-copy-streams';
import { appendAudit, beginKeyedChain } from '../audit/append-audit.js';
import { auditKeyOf } from '../audit/audit-key.js';
import { databaseError } from '../database/database.js';
import type { Queryable } from '../database/database.js';
import { migrate, MIGRATION_LOCK } from '../database/migrate.js';
import { createPartition, partitionNamed } from '../database/partitions.js';
import { queryableOf } from '../database/queryable-of.js';
import { scriptsEnded } from '../database/schema-engine.js';
import { messageOf, RegistryError } from '../registry-error.js';
import { columnList, quoted } from './database-contents.js';
import { openPlainClient } from './plain-client.js';
import { FILLED_BY_MIGRATIONS, requireNoLaterMigration, requireNoRows } from './require-restorable.js';
import type { RestoreSource } from './require-restorable.js';

/** A piece of a table in the text format of COPY. It may end inside a row. */
export interface TablePiece {
  readonly table: string;
  readonly data: Uint8Array;
}

export interface DatabaseLoad extends RestoreSource {
  /** Whole tables, in the order of `contents`. The rows are committed when it has ended. */
  readonly pieces: AsyncIterable<TablePiece>;
  /** The number of rows in each table of the backup. */
  readonly rows: Readonly<Record<string, number>>;
  /** When the backup began, for the audit trail. */
  readonly createdAt: Date;
  readonly auditSecret: string | Uint8Array;
}

/** Resolves to the number of jobs that were paused. Call `requireRestorable` first. */
export async function loadDatabase(
  databaseUrl: string,
  load: DatabaseLoad,
  warn: (message: string) => void = () => undefined,
): Promise<number> {
  await migrate(databaseUrl, { only: new Set(load.contents.migrations.map(({ name }) => name)), onWait: warn });
  const client = await openPlainClient(databaseUrl);
  try {
    await client.query('BEGIN');
    const paused = await loadRows(client, load);
    await client.query('COMMIT');
    await client.query('ANALYZE').catch((error: unknown) => warn(notAnalyzed(error)));
    await migrate(databaseUrl, { onWait: warn }).catch((error: unknown) => warn(notMigrated(error)));
    return paused;
  } catch (error) {
    throw error instanceof Error && 'code' in error ? databaseErrorOr(error) : error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function notAnalyzed(error: unknown): string {
  return (
    `All rows were restored, but ANALYZE failed: ${messageOf(error)}. Queries may be slow until it succeeds. ` +
    'Run it again: psql "$DATABASE_URL" -c ANALYZE. The embedded PostgreSQL does so by itself.'
  );
}

/** The rows are committed, and every start of a hub migrates. */
function notMigrated(error: unknown): string {
  return (
    `All rows were restored, but the migrations of this version failed: ${messageOf(error).replace(/\.$/, '')}. ` +
    'Do not restore again. The next start of the hub repeats the migrations.'
  );
}

/** Errors of PostgreSQL have a SQLSTATE of five characters; those of `pieces` pass as they are. */
function databaseErrorOr(error: Error & { readonly code: unknown }): Error {
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? databaseError(error) : error;
}

async function loadRows(client: pg.Client, load: DatabaseLoad): Promise<number> {
  const db = queryableOf(client, auditKeyOf(load.auditSecret));
  const { tables, partitions } = load.contents;
  // A hub that starts now migrates the restored rows after the commit.
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await scriptsEnded(client);
  await requireNoLaterMigration(db, load);
  // Triggers compute rows that are in the backup. The lock also keeps a hub from starting here.
  for (const { name } of tables) await client.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
  await requireNoRows(db);
  // An older backup lacks some of these tables: the migrations of this version make and fill them.
  for (const { name } of tables)
    if (FILLED_BY_MIGRATIONS.includes(name)) await client.query(`DELETE FROM ${quoted(name)}`);
  for (const partition of partitions.map(partitionNamed)) if (partition) await createPartition(db, partition);
  const loaded = await copyTables(client, load);
  for (const { name } of tables) {
    const [expected, found] = [load.rows[name] ?? 0, loaded.get(name) ?? 0];
    if (expected !== found)
      throw new RegistryError('RESTORE_REFUSED', `The table ${name} has ${found} of its ${expected} rows.`);
    await client.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
  }
  await advanceSequences(db);
  const paused = await pauseJobs(db);
  const data = { backupOf: load.createdAt.toISOString(), hubVersion: load.hubVersion, pausedJobs: paused };
  // With another key than the former hub had, a verification expects this entry first.
  await beginKeyedChain(db, Date.now());
  await appendAudit(db, [{ actor: 'hub', action: 'hub.restored', subject: 'hub', data, at: Date.now() }]);
  return paused;
}

/** Resolves to the number of rows of each table. */
async function copyTables(client: pg.Client, { contents, pieces }: DatabaseLoad): Promise<ReadonlyMap<string, number>> {
  const loaded = new Map<string, number>();
  const source = pieces[Symbol.asyncIterator]();
  let piece = await source.next();
  while (!piece.done) {
    const name = piece.value.table;
    const table = contents.tables.find((other) => other.name === name);
    if (table === undefined || loaded.has(name))
      throw new RegistryError('RESTORE_REFUSED', `The backup has an unexpected part of a table ${name}.`);
    const copy = client.query(from(`COPY ${quoted(name)} (${columnList(table)}) FROM STDIN`));
    await pipeline(async function* () {
      for (; !piece.done && piece.value.table === name; piece = await source.next()) yield piece.value.data;
    }, copy);
    loaded.set(name, copy.rowCount);
  }
  return loaded;
}

/** New rows continue after the restored ones. */
async function advanceSequences(db: Queryable): Promise<void> {
  const sequences = await db.query<{ name: string; table: string; column: string }>(
    {
      text: `SELECT s.relname::text AS name, t.relname::text AS table, a.attname::text AS column
             FROM pg_class s
             JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.deptype IN ('a', 'i')
             JOIN pg_class t ON t.oid = d.refobjid
             JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
             WHERE s.relkind = 'S' AND s.relnamespace = current_schema()::regnamespace`,
    },
    [],
  );
  for (const { name, table, column } of sequences)
    await db.query({ text: `SELECT setval($1::regclass, max(${quoted(column)})) FROM ${quoted(table)}` }, [
      quoted(name),
    ]);
}

/**
 * Pauses the jobs that ran: after the backup, the former hub may have called devices that are still
 * waiting here. An operator decides which of them continue.
 */
async function pauseJobs(db: Queryable): Promise<number> {
  const paused = await db.query(
    {
      text: `UPDATE job SET state = 'PAUSED', pause_reason = 'USER', version = version + 1
             WHERE state IN ('PREPARING', 'RUNNING') OR (state = 'PAUSED' AND pause_reason = 'WINDOW_CLOSED')
             RETURNING 1`,
    },
    [],
  );
  return paused.length;
}
