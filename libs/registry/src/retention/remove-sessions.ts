/** Removes sessions that ended long ago. The latest of a device says since when it is offline. */
import type { Database } from '../database/database.js';
import { ROWS_PER_STATEMENT } from './remove-in-batches.js';

/**
 * One batch, from $2 on, in the order of an index: each batch begins where the last one ended, and
 * passes the sessions that stay once. The lookup is a value, as in remove-series.ts.
 */
const REMOVE = {
  text: `WITH batch AS MATERIALIZED (
      SELECT s.ctid AS place, s.device_id, s.epoch, s.disconnected_at FROM session s
      WHERE s.disconnected_at < $1 AND (s.disconnected_at, s.device_id, s.epoch) > ($2, $3, $4::int)
      ORDER BY s.disconnected_at, s.device_id, s.epoch LIMIT ${ROWS_PER_STATEMENT}
    ), removed AS (
      DELETE FROM session WHERE ctid = ANY (ARRAY(
        SELECT b.place FROM batch b
        WHERE (SELECT true FROM device d WHERE d.id = b.device_id AND d.epoch = b.epoch) IS NULL)) RETURNING 1
    )
    SELECT b.disconnected_at, b.device_id, b.epoch, (SELECT count(*) FROM batch)::int AS passed,
      (SELECT count(*) FROM removed)::int AS removed
    FROM batch b ORDER BY b.disconnected_at DESC, b.device_id DESC, b.epoch DESC LIMIT 1`,
};

interface Batch {
  readonly disconnected_at: Date;
  readonly device_id: string;
  readonly epoch: number;
  readonly passed: number;
  readonly removed: number;
}

export async function removeSessionsBefore(database: Database, before: number): Promise<number> {
  let removed = 0;
  let from: readonly unknown[] = [new Date(0), '', 0];
  for (;;) {
    const [batch] = await database.query<Batch>(REMOVE, [new Date(before), ...from]);
    removed += batch?.removed ?? 0;
    if (batch === undefined || batch.passed < ROWS_PER_STATEMENT) return removed;
    from = [batch.disconnected_at, batch.device_id, batch.epoch];
  }
}
