/**
 * Partitions ahead of time: events and calls by day and targets by month, on the time inside their
 * UUIDv7; measurements by day and their roll-ups by month, on their time. A row without one goes to
 * the default partition, so a hub that could not make them keeps working.
 */
import type { RegistryLogger } from '../registry-logger.js';
import type { Database, Queryable } from './database.js';
import { lowestUuidOf } from './uuid-v7.js';

export type PartitionedTable =
  'event' | 'call' | 'job_target' | 'measurement' | 'measurement_pack' | 'measurement_hour';

export interface Partition {
  readonly table: PartitionedTable;
  readonly name: string;
  /** ms since the Unix epoch; `until` is the first one not in it. */
  readonly from: number;
  readonly until: number;
  readonly storage: Storage;
}

interface Scheme {
  readonly unit: 'day' | 'month';
  /** The column has a UUIDv7, or a time. */
  readonly key: 'uuid' | 'time';
  readonly storage?: Storage;
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

const SCHEMES: Readonly<Record<PartitionedTable, Scheme>> = {
  event: { unit: 'day', key: 'uuid' },
  call: { unit: 'day', key: 'uuid' },
  job_target: { unit: 'month', key: 'uuid', storage: REWRITTEN },
  measurement: { unit: 'day', key: 'time' },
  measurement_pack: { unit: 'day', key: 'time' },
  measurement_hour: { unit: 'month', key: 'time' },
};

const DAYS_AHEAD = 7;
/**
 * Creating or dropping a partition stops all writers of the table for a moment. Behind a long
 * transaction it is postponed.
 */
export const PARTITION_LOCK_TIMEOUT = '3s';
const PARTITION_LOCK = 4_607_182_420;

/** One process at a time creates, packs or drops partitions. */
export async function lockPartitions(transaction: Queryable): Promise<void> {
  await transaction.query({ text: `SET LOCAL lock_timeout = '${PARTITION_LOCK_TIMEOUT}'` }, []);
  await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [PARTITION_LOCK]);
}

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
  const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => Date.UTC(year, month, day + index));
  const months = [month, month + 1].map((index) => Date.UTC(year, index));
  return [
    ...days.flatMap((at) => [partitionOn('event', at), partitionOn('call', at), partitionOn('measurement', at)]),
    ...months.flatMap((at) => [partitionOn('job_target', at), partitionOn('measurement_hour', at)]),
  ];
}

/** The partition with this name; undefined for a default partition. */
export function partitionNamed(name: string): Partition | undefined {
  const [, table = '', year, month, day] = /^([a-z_]+)_(\d{4})(\d{2})(\d{2})?$/.exec(name) ?? [];
  if (!isPartitioned(table) || (SCHEMES[table].unit === 'month') !== (day === undefined)) return undefined;
  return partitionOn(table, Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1)));
}

function isPartitioned(table: string): table is PartitionedTable {
  return Object.hasOwn(SCHEMES, table);
}

/** The partition of a table that has this time (ms since the Unix epoch). */
export function partitionOn(table: PartitionedTable, at: number): Partition {
  const { unit, storage = {} } = SCHEMES[table];
  const time = new Date(at);
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  const [from, until] =
    unit === 'day'
      ? [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)]
      : [Date.UTC(year, month), Date.UTC(year, month + 1)];
  const digits = new Date(from)
    .toISOString()
    .replaceAll('-', '')
    .slice(0, unit === 'day' ? 8 : 6);
  return { table, name: `${table}_${digits}`, from, until, storage };
}

async function exists(database: Queryable, { name }: Partition): Promise<boolean> {
  const rows = await database.query<{ found: boolean }>({ text: 'SELECT to_regclass($1) IS NOT NULL AS found' }, [
    name,
  ]);
  return rows[0]?.found === true;
}

function make(database: Database, partition: Partition): Promise<void> {
  return database.transaction(async (transaction) => {
    await lockPartitions(transaction);
    await createPartition(transaction, partition);
  });
}

/** Creates a missing partition. DDL takes no parameters, so names and bounds are computed. */
export async function createPartition(db: Queryable, partition: Partition): Promise<void> {
  const { table, name, storage } = partition;
  const settings = storage.table === undefined ? '' : `WITH (${storage.table})`;
  const text = `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table} ${boundsOf(partition)} ${settings}`;
  await db.query({ text }, []);
  if (storage.key !== undefined) await db.query({ text: `ALTER INDEX ${name}_pkey SET (${storage.key})` }, []);
}

/** Makes a table with its rows the partition. */
export async function attachPartition(db: Queryable, partition: Partition): Promise<void> {
  const { table, name } = partition;
  await db.query({ text: `ALTER TABLE ${table} ATTACH PARTITION ${name} ${boundsOf(partition)}` }, []);
}

function boundsOf({ table, from, until }: Partition): string {
  const bound = SCHEMES[table].key === 'uuid' ? lowestUuidOf : (at: number) => new Date(at).toISOString();
  return `FOR VALUES FROM ('${bound(from)}') TO ('${bound(until)}')`;
}
