/**
 * Removes series of measurements that have nothing left, and the paths that no series has: they
 * count for the limit of the fleet.
 */
import type { Database } from '../database/database.js';
import { PARTITION_LOCK_TIMEOUT } from '../database/partitions.js';
import { removeInBatches } from './remove-in-batches.js';

/** As a value and not as NOT EXISTS: PostgreSQL would read whole tables for a join. */
const isEmpty = (table: string) =>
  `(SELECT true FROM ${table} m WHERE m.device_id = r.device_id AND m.path_id = r.path_id LIMIT 1) IS NULL`;
const IS_EMPTY = ['measurement', 'measurement_pack', 'measurement_hour', 'measurement_day'].map(isEmpty).join(' AND ');
const IS_UNUSED = '(SELECT true FROM measurement_series s WHERE s.path_id = p.id LIMIT 1) IS NULL';

/** Without a point since `before`. A device that reports the path again begins a new series. */
export async function removeSeriesBefore(database: Database, before: number): Promise<number> {
  const series = await removeInBatches(database, 'measurement_series', `r.at < $1 AND ${IS_EMPTY}`, [new Date(before)]);
  return series + (await removePaths(database));
}

async function removePaths(database: Database): Promise<number> {
  const unused = await database.query({ text: `SELECT FROM measurement_path p WHERE ${IS_UNUSED} LIMIT 1` }, []);
  if (unused.length === 0) return 0;
  return database.transaction(async (transaction) => {
    await transaction.query({ text: `SET LOCAL lock_timeout = '${PARTITION_LOCK_TIMEOUT}'` }, []);
    // A point that is written meanwhile would lose its path. Writers wait for some milliseconds.
    await transaction.query({ text: 'LOCK TABLE measurement_series IN SHARE MODE' }, []);
    const text = `DELETE FROM measurement_path p WHERE ${IS_UNUSED} RETURNING 1`;
    return (await transaction.query({ text }, [])).length;
  });
}
