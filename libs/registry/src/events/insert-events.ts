/** Writes events, and their deliveries to webhooks, with a connection or in a transaction. */
import { toJson } from '../database/json-rows.js';
import type { Queryable } from '../database/database.js';
import { sql, SqlFile } from '../database/sql-file.js';
import type { EventRow } from './event-store.js';

const INSERT = new SqlFile(new URL('./insert-events.sql', import.meta.url), {
  name: 'insert-events',
  parameters: { rows: sql.json },
  row: { is_pending: sql.boolean },
});

/** Resolves to whether webhooks wait for some of them. */
export async function insertEvents(db: Queryable, rows: readonly EventRow[]): Promise<boolean> {
  const input = rows.map(({ id, type, deviceId, data }) => ({ id, type, device_id: deviceId, data }));
  const [answer] = await INSERT.run(db, { rows: toJson(input) });
  return answer?.is_pending === true;
}
