/** Removes what devices had long ago: uses of tool sets, and the sets that no use is left of. */
import type { Database } from '../database/database.js';
import { removeInBatches } from './remove-in-batches.js';

/** Uses of one device, the latest first. A faulty device may list other tools each time. */
const USES_PER_DEVICE_MAX = 100;
/** A set is stored before its first use is, which an outage may delay. */
const UNUSED_KEPT_MS = 2 * 86_400_000;

/** Uses that ended before `before`. What a device lists now stays. */
const ENDED = `r.last_seen_at < $1 AND NOT EXISTS (
  SELECT FROM device d WHERE d.id = r.device_id AND d.tool_set_hash = r.tool_set_hash)`;

const SURPLUS = `r.ctid = ANY (ARRAY(
  SELECT u.ctid FROM (SELECT device_id FROM tool_set_use GROUP BY device_id HAVING count(*) > $1) many
  CROSS JOIN LATERAL (
    SELECT o.ctid FROM tool_set_use o WHERE o.device_id = many.device_id
    ORDER BY o.last_seen_at DESC, o.first_seen_at DESC OFFSET $1) u))
  AND NOT EXISTS (SELECT FROM device d WHERE d.id = r.device_id AND d.tool_set_hash = r.tool_set_hash)`;

/**
 * The lookup of a device is a value, as in remove-series.ts. Without DISTINCT, the hashes of all
 * uses may not fit in memory, and PostgreSQL would read them again for each set.
 */
const UNUSED = `r.stored_at < $1
  AND (SELECT true FROM device d WHERE d.tool_set_hash = r.hash LIMIT 1) IS NULL
  AND r.hash NOT IN (SELECT DISTINCT tool_set_hash FROM tool_set_use)`;

/** Resolves to the number of removed sets. */
export async function removeToolSetsBefore(database: Database, before: number, now: number): Promise<number> {
  await removeInBatches(database, 'tool_set_use', ENDED, [new Date(before)]);
  await removeInBatches(database, 'tool_set_use', SURPLUS, [USES_PER_DEVICE_MAX]);
  return removeInBatches(database, 'tool_set', UNUSED, [new Date(now - UNUSED_KEPT_MS)]);
}
