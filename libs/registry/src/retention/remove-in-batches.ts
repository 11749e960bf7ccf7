import type { Database } from '../database/database.js';

/** Rows that one statement removes. More would hold locks for too long. */
export const ROWS_PER_STATEMENT = 10_000;

/**
 * Removes the rows `r` that match `condition`, in batches, and resolves to their number. Not for
 * partitioned tables: rows are identified by ctid, which is unique in one partition only.
 */
export async function removeInBatches(
  database: Database,
  table: string,
  condition: string,
  values: readonly unknown[],
): Promise<number> {
  let removed = 0;
  for (;;) {
    const text = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT r.ctid FROM ${table} r WHERE ${condition} LIMIT ${ROWS_PER_STATEMENT})) RETURNING 1`;
    const { length } = await database.query({ text }, [...values]);
    removed += length;
    if (length < ROWS_PER_STATEMENT) return removed;
  }
}
