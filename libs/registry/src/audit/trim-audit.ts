/**
 * Removes the oldest entries. The anchor and an entry of the chain record where the chain begins
 * afterwards, so that a beginning that was removed manually shows.
 */
import type { Database, Queryable } from '../database/database.js';
import { appendAudit, lockChain } from './append-audit.js';

export const TRIMMED = 'audit.trimmed';

/** Entries of one transaction, during which no other transaction can append. */
const ENTRIES_PER_TRIM = 10_000;

/** Removes the entries before the first one that is not older than `before`, and counts them. */
export async function trimAudit(database: Database, before: number, at: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await database.transaction((transaction) => trimSome(transaction, before, at));
    removed += count;
    if (count < ENTRIES_PER_TRIM) return removed;
  }
}

/** One step of it. Resolves to the number of removed entries. */
export async function trimSome(transaction: Queryable, before: number, at: number): Promise<number> {
  // Before the search: another process may trim, too, and record a later beginning of the chain.
  await lockChain(transaction);
  const [last] = await transaction.query<{ sequence: string; hash: string; count: number }>(
    {
      text: `WITH oldest AS (
               SELECT e.sequence, e.at, e.hash FROM audit_entry e ORDER BY e.sequence LIMIT ${ENTRIES_PER_TRIM}),
             old AS (
               SELECT o.* FROM oldest o WHERE o.sequence < coalesce(
                 (SELECT min(n.sequence) FROM oldest n WHERE n.at >= $1), 9223372036854775807))
             SELECT o.sequence::text AS sequence, o.hash, (SELECT count(*)::int FROM old) AS count FROM old o
             ORDER BY o.sequence DESC LIMIT 1`,
    },
    [new Date(before)],
  );
  if (last === undefined) return 0;
  const { sequence, hash, count } = last;
  // Appended before the removal, because it continues the chain.
  const data = { sequence: Number(sequence), hash, entries: count, before: new Date(before).toISOString() };
  await appendAudit(transaction, [{ actor: 'hub', action: TRIMMED, subject: 'audit', data, at }]);
  await transaction.query(
    {
      text: `INSERT INTO audit_anchor (is_only, sequence, hash) VALUES (true, $1, $2)
             ON CONFLICT (is_only) DO UPDATE SET sequence = EXCLUDED.sequence, hash = EXCLUDED.hash
             WHERE audit_anchor.sequence < EXCLUDED.sequence`,
    },
    [sequence, hash],
  );
  const { length } = await transaction.query({ text: 'DELETE FROM audit_entry WHERE sequence <= $1 RETURNING 1' }, [
    sequence,
  ]);
  return length;
}
