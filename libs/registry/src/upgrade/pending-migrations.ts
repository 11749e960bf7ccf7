/** What the next start of this version would change in a database. Changes nothing. */
import { appliedMigrations, ownMigrations } from '../database/migrate.js';
import { queryableOf } from '../database/queryable-of.js';
import { estimateWork } from './migration-work.js';
import type { TableSize, WorkEstimate } from './migration-work.js';
import { withClient } from './with-client.js';

export interface PendingMigrations extends WorkEstimate {
  /** False for a database without any table of a hub. */
  readonly isInstalled: boolean;
  /** Names in the order in which they run. */
  readonly pending: readonly string[];
  /** Migrations of a newer version, which this one does not know. */
  readonly unknown: readonly string[];
}

/** Rows are estimates of PostgreSQL (ANALYZE). Partitions count for their table. */
const SIZES = `SELECT c.relname AS name,
    (CASE c.relkind WHEN 'p' THEN (SELECT coalesce(sum(greatest(l.reltuples, 0)), 0)
        FROM pg_partition_tree(c.oid) p JOIN pg_class l ON l.oid = p.relid WHERE p.isleaf)
      ELSE greatest(c.reltuples, 0) END)::float8 AS rows,
    (CASE c.relkind WHEN 'p' THEN (SELECT coalesce(sum(pg_table_size(p.relid)), 0)
        FROM pg_partition_tree(c.oid) p WHERE p.isleaf)
      ELSE pg_table_size(c.oid) END)::float8 AS bytes
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`;

/** Throws RegistryError DATABASE_UNAVAILABLE. */
export function pendingMigrations(databaseUrl: string): Promise<PendingMigrations> {
  return withClient(databaseUrl, async (client) => {
    const applied = await appliedMigrations(queryableOf(client));
    const own = await ownMigrations();
    const pending = own.filter(({ name }) => !applied.has(name));
    const known = new Set(own.map(({ name }) => name));
    const { rows } = await client.query<TableSize & { readonly name: string }>(SIZES);
    const sizes = new Map(rows.map(({ name, rows: count, bytes }) => [name, { rows: count, bytes }]));
    return {
      isInstalled: applied.size > 0,
      pending: pending.map(({ name }) => name),
      unknown: [...applied.keys()].filter((name) => !known.has(name)),
      ...estimateWork(
        pending.map(({ sql }) => sql),
        sizes,
      ),
    };
  });
}
