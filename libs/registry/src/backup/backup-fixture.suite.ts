/** Databases to dump and to restore into, and what a dump of one contains. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { openRegistry } from '../open-registry.js';
import { fillWithRows, openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { execute, withDatabase } from '../test-server.js';
import type { DatabaseContents } from './database-contents.js';
import { openDatabaseDump } from './dump-database.js';
import type { TablePiece } from './load-database.js';

export const auditSecret = 'the-audit-key-of-this-spec-of-backups';

export interface Dumped {
  readonly contents: DatabaseContents;
  readonly rows: Readonly<Record<string, number>>;
  readonly pieces: readonly TablePiece[];
}

export async function dumpOf(databaseUrl: string): Promise<Dumped> {
  const dump = await openDatabaseDump(databaseUrl);
  const rows: Record<string, number> = {};
  const pieces: TablePiece[] = [];
  for (const table of dump.contents.tables) {
    const stream = dump.rowsOf(table);
    for await (const data of stream) pieces.push({ table: table.name, data: data as Buffer });
    rows[table.name] = stream.rowCount;
  }
  await dump.close();
  return { contents: dump.contents, rows, pieces };
}

export async function query<Row extends pg.QueryResultRow>(databaseUrl: string, text: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A database without tables, as a new hub finds it. */
export async function openEmptyDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env['FLOTILLA_TEST_POSTGRES'] ?? '';
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await execute(serverUrl, `CREATE DATABASE ${name}`);
  return {
    databaseUrl: withDatabase(serverUrl, name),
    close: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** A database of a hub with rows in all tables, and the tables of a day while it is packed. */
export async function openFilledDatabase(): Promise<TestDatabase> {
  const source = await openTestDatabase();
  const registry = await openRegistry({ databaseUrl: source.databaseUrl, auditSecret });
  await registry.close();
  await fillWithRows(source.databaseUrl, 20);
  // Values that the text form must keep: quotes, line ends, backslashes, NULL, other scripts.
  // The tables are those of a day while it is packed, which a fresh database does not have.
  await execute(
    source.databaseUrl,
    `INSERT INTO device (id, name, dialect, reachability, tags) VALUES
       ('d1', E'\\\\N "a"\\tb\\r\\n\\\\.', 'XIAOZHI', 'ALWAYS', ARRAY['x,y', '', 'é{"}']),
       ('d2', NULL, 'XIAOZHI', 'ALWAYS', '{}'), ('d3', '小智', 'MCPU', 'ALWAYS', '{}');
     UPDATE job SET state = 'RUNNING', conclusion = NULL, finished_at = NULL WHERE name = 'Job 1';
     INSERT INTO approval_failure (approver, at) VALUES ('KEY:a', now()), ('KEY:b', now());
     UPDATE tool_policy SET call_timeout_ms = 12345 WHERE pattern = '*';
     CREATE TABLE measurement_pack_20201122 (LIKE measurement_pack INCLUDING ALL);
     CREATE TABLE measurement_20201122 (LIKE measurement INCLUDING ALL)`,
  );
  return source;
}
