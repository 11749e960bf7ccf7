/** Makes room in the full list of boards. A stranger can fill it with ids that it invents. */
import type { Queryable } from '../../database/database.js';

/**
 * $1 boards that need a place, $2 the most boards. A board keeps its place if it was imported,
 * moved or registered, or if it is bound at the former server and asked more than once.
 */
const EVICT = {
  name: 'evict-moving-boards',
  text: `DELETE FROM moving_board WHERE device_id = ANY (ARRAY(
           SELECT m.device_id FROM moving_board m
           WHERE m.asked_at IS NOT NULL AND m.moved_at IS NULL AND m.returning_at IS NULL AND m.released_at IS NULL
             AND coalesce(m.former_name, m.former_agent, m.former_user) IS NULL
             AND (m.bound_there IS NOT TRUE OR m.asked_at = m.added_at)
             AND NOT EXISTS (SELECT FROM device d WHERE d.id = m.device_id)
           ORDER BY m.bound_there IS TRUE, m.asked_at > m.added_at, m.asked_at
           LIMIT greatest(0, (SELECT count(*) FROM moving_board) + $1::bigint - $2::bigint) FOR UPDATE SKIP LOCKED))
         RETURNING device_id`,
};

/** Removes those first that are not bound there, that asked once, and that asked longest ago. */
export async function evictBoards(database: Queryable, needed: number, boardsMax: number): Promise<number> {
  return (await database.query(EVICT, [needed, boardsMax])).length;
}
