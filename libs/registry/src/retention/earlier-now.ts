/** The time of retention, so that the wrong clock of one machine removes nothing. */
import type { Database } from '../database/database.js';

/** Resolves to `now`, or to the time of PostgreSQL if that is earlier, ms. */
export async function earlierNow(database: Database, now: number): Promise<number> {
  const text = 'SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now';
  const rows = await database.query<{ now: number }>({ text }, []);
  return Math.min(now, ...rows.map((row) => row.now));
}
