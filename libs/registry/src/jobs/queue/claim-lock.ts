import type { Queryable } from '../../database/database.js';

/**
 * Key of the advisory lock of claims. Concurrent claims of jobs that share devices would not see
 * each other's targets.
 */
const CLAIM_LOCK = 7_211_201;

/**
 * Locks claims until the end of the transaction: exclusively for a disruptive job, shared for
 * others. A separate statement, because the snapshot of the claim must be younger than the lock.
 */
export async function lockClaims(transaction: Queryable, isDisruptive: boolean): Promise<void> {
  const statement = isDisruptive
    ? { text: 'SELECT pg_advisory_xact_lock($1)' }
    : { name: 'job-claim-lock', text: 'SELECT pg_advisory_xact_lock_shared($1)' };
  await transaction.query(statement, [CLAIM_LOCK]);
}
