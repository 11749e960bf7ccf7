/**
 * Partitions ahead of time: events and calls by day, targets by month, on the time inside their
 * UUIDv7. A row without one goes to the default partition, so a hub that could not make them keeps
 * working.
 */
import type { RegistryLogger } from '../registry-logger.js';
import type { Database, Queryable } from './database.js';
import { lowestUuidOf } from './uuid-v7.js';

export interface Partition {
  readonly table: string;
  readonly name: string;
  /** ms since the Unix epoch; `until` is the first one not in it. */
  readonly from: number;
  readonly until: number;
  readonly storage: Storage;
}

/** Settings as PostgreSQL writes them. */
interface Storage {
  readonly table?: string;
  /** Of the primary key. */
  readonly key?: string;
}

/**
 * Targets are rewritten twice within moments. Free room keeps a claim on its page, and the index
 * entry of its end in its place.
 */
const REWRITTEN: Storage = { table: 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05', key: 'fillfactor = 50' };

const DAYS_AHEAD = 7;
/**
 * Creating or dropping a partition stops all writers of the table for a moment. Behind a long
 * transaction it is postponed.
 */
export const PARTITION_LOCK_TIMEOUT = '3s';
export const PARTITION_LOCK = 4_607_182_420;

export async function makePartitions(database: Database, now: number, logger: RegistryLogger): Promise<void> {
  for (const partition of partitionsFrom(now)) {
    try {
      if (!(await exists(database, partition))) await make(database, partition);
    } catch (error) {
      logger.warn(
        { partition: partition.name, err: error },
        'a partition was not made: its rows go to the default one',
      );
    }
  }
}

/**
 * All that must be there at this time (ms since the Unix epoch). Days and months are those of UTC.
 */
export function partitionsFrom(now: number): readonly Partition[] {
  const today = new Date(now);
  const [year, month, day] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
  const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => index + day).flatMap((dayOfMonth) =>
    ['event', 'call'].map((table) =>
      partition(table, Date.UTC(year, month, dayOfMonth), Date.UTC(year, month, dayOfMonth + 1), 8),
    ),
  );
  const months = [month, month + 1].map((index) =>
    partition('job_target', Date.UTC(year, index), Date.UTC(year, index + 1), 6, REWRITTEN),
  );
  return [...days, ...months];
}

/** The partition with this name; undefined for a default partition. */
export function partitionNamed(name: string): Partition | undefined {
  const [, table, year, month, day] = /^(event|call|job_target)_(\d{4})(\d{2})(\d{2})?$/.exec(name) ?? [];
  if (table === undefined || (table === 'job_target') !== (day === undefined)) return undefined;
  const [y, m, d] = [Number(year), Number(month) - 1, Number(day)];
  return day === undefined
    ? partition(table, Date.UTC(y, m), Date.UTC(y, m + 1), 6, REWRITTEN)
    : partition(table, Date.UTC(y, m, d), Date.UTC(y, m, d + 1), 8);
}

function partition(table: string, from: number, until: number, digits: number, storage: Storage = {}): Partition {
  return {
    table,
    name: `${table}_${new Date(from).toISOString().replaceAll('-', '').slice(0, digits)}`,
    from,
    until,
    storage,
  };
}

async function exists(database: Queryable, { name }: Partition): Promise<boolean> {
  const rows = await database.query<{ found: boolean }>({ text: 'SELECT to_regclass($1) IS NOT NULL AS found' }, [
    name,
  ]);
  return rows[0]?.found === true;
}

function make(database: Database, partition: Partition): Promise<void> {
  return database.transaction(async (transaction) => {
    await transaction.query({ text: `SET LOCAL lock_timeout = '${PARTITION_LOCK_TIMEOUT}'` }, []);
    await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [PARTITION_LOCK]);
    await createPartition(transaction, partition);
  });
}

/** Creates a missing partition. DDL takes no parameters, so names and bounds are computed. */
export async function createPartition(db: Queryable, { table, name, from, until, storage }: Partition): Promise<void> {
  const settings = storage.table === undefined ? '' : `WITH (${storage.table})`;
  await db.query(
    {
      text: `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table}
             FOR VALUES FROM ('${lowestUuidOf(from)}') TO ('${lowestUuidOf(until)}') ${settings}`,
    },
    [],
  );
  if (storage.key !== undefined) await db.query({ text: `ALTER INDEX ${name}_pkey SET (${storage.key})` }, []);
}
