/** What a backup of the database consists of, read from the catalogue of PostgreSQL. */
import type { Queryable } from '../database/database.js';
import { appliedMigrations } from '../database/migrate.js';
import type { AppliedMigration } from '../database/migrate.js';

export interface TableContents {
  readonly name: string;
  /** Without generated columns, which PostgreSQL computes again. */
  readonly columns: readonly string[];
}

export interface DatabaseContents {
  readonly migrations: readonly AppliedMigration[];
  /** Names of partitions, default ones included. */
  readonly partitions: readonly string[];
  /** A table comes after the tables that its foreign keys refer to. */
  readonly tables: readonly TableContents[];
}

/**
 * Without tables of a day that is being packed. Packs repeat the points until they replace them,
 * and `pauseUpkeep` avoids a snapshot with points in a detached table.
 */
const TABLES = {
  text: `SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
           (SELECT coalesce(array_agg(DISTINCT r.relname::text), '{}')
            FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid
            WHERE k.conrelid = c.oid AND k.contype = 'f' AND r.oid <> c.oid) AS "refersTo"
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND c.relname <> '_prisma_migrations' AND c.relname !~ '^measurement_(pack_)?[0-9]{8}$'
           AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
         GROUP BY c.oid, c.relname ORDER BY c.relname`,
};

const PARTITIONS = {
  text: `SELECT c.relname::text AS name FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relispartition
         ORDER BY c.relname`,
};

interface TableRow extends TableContents {
  readonly refersTo: readonly string[];
}

/** Resolves to no migrations and no tables for a database that no hub has used. */
export async function readContents(db: Queryable): Promise<DatabaseContents> {
  const applied = await appliedMigrations(db);
  const partitions = await db.query<{ name: string }>(PARTITIONS, []);
  return {
    migrations: [...applied].map(([name, checksum]) => ({ name, checksum })).sort(byName),
    partitions: partitions.map(({ name }) => name),
    tables: inOrderOfReferences(await db.query<TableRow & Record<string, unknown>>(TABLES, [])),
  };
}

function byName(a: AppliedMigration, b: AppliedMigration): number {
  return a.name < b.name ? -1 : 1;
}

function inOrderOfReferences(rows: readonly TableRow[]): readonly TableContents[] {
  const ordered = new Map<string, TableContents>();
  const add = ({ name, columns, refersTo }: TableRow, above: readonly string[]): void => {
    if (ordered.has(name) || above.includes(name)) return;
    for (const row of rows.filter((other) => refersTo.includes(other.name))) add(row, [...above, name]);
    ordered.set(name, { name, columns });
  };
  for (const row of rows) add(row, []);
  return [...ordered.values()];
}

/** Quotes names of the catalogue, which cannot be parameters. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function columnList({ columns }: TableContents): string {
  return columns.map(quoted).join(', ');
}
