import type { Database } from '../database/database.js';

/** Rows that one statement removes: more would hold their locks for too long. */
export const ROWS_PER_STATEMENT = 10_000;

/**
 * Removes the rows `r` of a table of ours for which `condition` holds, a batch at a time. Resolves to how many. Not for a table with partitions: a row is
 * found again by its place, and other partitions have rows in the same one.
 */
export async function removeInBatches(
  database: Database,
  table: string,
  condition: string,
  values: readonly unknown[],
): Promise<number> {
  let removed = 0;
  for (;;) {
    const text = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM ${table} r WHERE ${condition} LIMIT ${ROWS_PER_STATEMENT})) RETURNING 1`;
    const { length } = await database.query({ text }, [...values]);
    removed += length;
    if (length < ROWS_PER_STATEMENT) return removed;
  }
}
