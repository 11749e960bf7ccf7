/** Drops whole partitions: the cost does not depend on the rows, and the table keeps no holes. */
import { lockPartitions } from '../database/partitions.js';
import type { PartitionedTable } from '../database/partitions.js';
import type { Database, Queryable } from '../database/database.js';
import { lowestUuidOf } from '../database/uuid-v7.js';
import { removeInBatches } from './remove-in-batches.js';

interface PartitionSpan {
  readonly name: string;
  /** ms since the Unix epoch; `until` is exclusive. */
  readonly from: number;
  readonly until: number;
}

/** `event_20261121`, `job_target_202611`. */
const NAME = /_(\d{4})(\d{2})(\d{2})?$/;

/** Oldest first, without the default partition. */
export async function partitionsOf(database: Queryable, table: PartitionedTable): Promise<readonly PartitionSpan[]> {
  const rows = await database.query<{ name: string }>(
    {
      text: `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = $1::regclass ORDER BY 1`,
    },
    [table],
  );
  return rows.flatMap(({ name }) => {
    const [, year, month, day] = NAME.exec(name) ?? [];
    if (year === undefined || month === undefined) return [];
    const [y, m, d] = [Number(year), Number(month) - 1, Number(day ?? 1)];
    return [
      { name, from: Date.UTC(y, m, d), until: day === undefined ? Date.UTC(y, m + 1, 1) : Date.UTC(y, m, d + 1) },
    ];
  });
}

/**
 * Drops old partitions, and removes old rows of the default partition. Resolves to the number of
 * partitions and rows.
 */
export async function dropPartitionsBefore(
  database: Database,
  table: 'event' | 'call',
  before: number,
): Promise<number> {
  const old = (await partitionsOf(database, table)).filter(({ until }) => until <= before);
  for (const { name } of old) await dropPartition(database, name);
  const rows = await removeInBatches(database, `${table}_default`, 'r.id < $1::uuid', [lowestUuidOf(before)]);
  return old.length + rows;
}

/** The same for a table whose key is a time. */
export async function dropTimesBefore(
  database: Database,
  table: 'measurement' | 'measurement_pack' | 'measurement_hour',
  before: number,
): Promise<number> {
  const old = (await partitionsOf(database, table)).filter(({ until }) => until <= before);
  for (const { name } of old) await dropPartition(database, name);
  return old.length + (await removeInBatches(database, `${table}_default`, 'r.at < $1', [new Date(before)]));
}

/** DDL takes no parameters. `name` comes from PostgreSQL, never from a caller. */
export function dropPartition(database: Database, name: string): Promise<void> {
  return database.transaction(async (transaction) => {
    await lockPartitions(transaction);
    await transaction.query({ text: `DROP TABLE IF EXISTS "${name}"` }, []);
  });
}
