/** Removes what devices had long ago: uses of tool sets, and the sets that no use is left of. */
import type { Database } from '../database/database.js';
import { removeInBatches, ROWS_PER_STATEMENT } from './remove-in-batches.js';

/** Uses of one device, the latest first. A faulty device may list other tools each time. */
const USES_PER_DEVICE_MAX = 100;
/** A set is stored before its first use is, which an outage may delay. */
const UNUSED_KEPT_MS = 2 * 86_400_000;

/** What a device lists now stays. */
const IS_FORMER = `NOT EXISTS (
  SELECT FROM device d WHERE d.id = r.device_id AND d.tool_set_hash = r.tool_set_hash)`;
const ENDED = `r.last_seen_at < $1 AND ${IS_FORMER}`;
/** Before the last use of the device $1 that stays. */
const SURPLUS = `r.device_id = $1 AND r.last_seen_at < (
  SELECT o.last_seen_at FROM tool_set_use o WHERE o.device_id = $1
  ORDER BY o.last_seen_at DESC OFFSET $2 - 1 LIMIT 1) AND ${IS_FORMER}`;

/**
 * The newest set with a user-only tool of this name: without any, the arguments of former calls
 * would be shown to all (`userOnlyAmong`).
 */
const IS_NEWEST_USER_ONLY = `(
  SELECT true FROM tool t WHERE t.tool_set_hash = r.hash AND t.user_only AND (
    SELECT true FROM tool o JOIN tool_set s ON s.hash = o.tool_set_hash
    WHERE o.name = t.name AND o.user_only AND (s.created_at, s.hash) > (r.created_at, r.hash) LIMIT 1) IS NULL
  LIMIT 1)`;

/**
 * One batch of sets without uses, from $2 on. Uses have no index by set, so each batch reads all.
 * Lookups of single sets are values, as in remove-series.ts.
 */
const REMOVE_UNUSED = {
  text: `WITH batch AS MATERIALIZED (
      SELECT r.hash FROM tool_set r
      WHERE r.hash > $2 AND r.stored_at < $1 AND NOT EXISTS (SELECT FROM tool_set_use u WHERE u.tool_set_hash = r.hash)
      ORDER BY r.hash LIMIT ${ROWS_PER_STATEMENT}
    ), removed AS (
      DELETE FROM tool_set r
      WHERE r.hash = ANY (ARRAY(SELECT b.hash FROM batch b)) AND r.stored_at < $1
        AND (SELECT true FROM device d WHERE d.tool_set_hash = r.hash LIMIT 1) IS NULL
        AND ${IS_NEWEST_USER_ONLY} IS NULL
      RETURNING 1
    )
    SELECT max(b.hash) AS last, count(*)::int AS passed, (SELECT count(*) FROM removed)::int AS removed FROM batch b`,
};

interface Batch {
  readonly last: string | null;
  readonly passed: number;
  readonly removed: number;
}

/** Resolves to the number of removed sets. */
export async function removeToolSetsBefore(database: Database, before: number, now: number): Promise<number> {
  await removeInBatches(database, 'tool_set_use', ENDED, [new Date(before)]);
  await removeSurplusUses(database);
  return removeUnusedSets(database, now - UNUSED_KEPT_MS);
}

/** Device by device, because all surplus uses of a fleet can be millions. */
async function removeSurplusUses(database: Database): Promise<void> {
  const text = 'SELECT device_id FROM tool_set_use GROUP BY device_id HAVING count(*) > $1';
  const devices = await database.query<{ readonly device_id: string }>({ text }, [USES_PER_DEVICE_MAX]);
  for (const { device_id } of devices)
    await removeInBatches(database, 'tool_set_use', SURPLUS, [device_id, USES_PER_DEVICE_MAX]);
}

async function removeUnusedSets(database: Database, storedBefore: number): Promise<number> {
  let removed = 0;
  let from = '';
  for (;;) {
    const [batch] = await database.query<Batch>(REMOVE_UNUSED, [new Date(storedBefore), from]);
    removed += batch?.removed ?? 0;
    if (!batch?.last || batch.passed < ROWS_PER_STATEMENT) return removed;
    from = batch.last;
  }
}
