/**
 * Counts the devices on which one person calls disruptive tools directly. All processes share the
 * count.
 */
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';

interface DisruptiveCall {
  /** The person behind the caller (`principalRef`). */
  readonly owner: string;
  readonly deviceId: string;
  /** Ms since the Unix epoch. */
  readonly at: number;
}

interface DisruptiveCallBounds {
  readonly devicesMax: number;
  readonly windowMs: number;
}

/** Removes a bounded number of rows, and does not wait for calls that remove the same rows. */
const REMOVE_OLD = {
  text: `DELETE FROM disruptive_call WHERE (owner, device_id) IN
           (SELECT owner, device_id FROM disruptive_call WHERE at <= $1 ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
};

export class DisruptiveCallStore {
  constructor(private readonly database: Database) {}

  /**
   * False if the call would reach more than `devicesMax` devices within the window; it is not
   * stored then.
   */
  take({ owner, deviceId, at }: DisruptiveCall, { devicesMax, windowMs }: DisruptiveCallBounds): Promise<boolean> {
    const since = new Date(at - windowMs);
    return this.database.transaction(async (transaction) => {
      // Serialises the calls of this person: two processes must not both take the last place.
      await transaction.query({ text: `SELECT pg_advisory_xact_lock(hashtextextended($1, 1))` }, [owner]);
      await transaction.query(REMOVE_OLD, [since]);
      const taken = await transaction.query(
        {
          text: `INSERT INTO disruptive_call (owner, device_id, at) SELECT $1::text, $2::text, $3::timestamptz
                 WHERE EXISTS (SELECT FROM disruptive_call WHERE owner = $1 AND device_id = $2 AND at > $5)
                   OR (SELECT count(*) FROM disruptive_call WHERE owner = $1 AND at > $5) < $4
                 ON CONFLICT (owner, device_id) DO UPDATE SET at = greatest(disruptive_call.at, excluded.at)
                 RETURNING owner`,
        },
        [storableText(owner), storableText(deviceId), new Date(at), devicesMax, since],
      );
      return taken.length === 1;
    });
  }
}
