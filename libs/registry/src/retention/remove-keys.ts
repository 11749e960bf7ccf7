import type { Database } from '../database/database.js';
import { removeInBatches } from './remove-in-batches.js';

/**
 * Removes old idempotency keys of calls and jobs, so that they can be used again. The jobs stay.
 */
export async function removeKeysBefore(database: Database, before: number): Promise<number> {
  const calls = await removeInBatches(database, 'call_key', 'r.started_at < $1', [new Date(before)]);
  const text =
    'UPDATE job SET idempotency_key = NULL WHERE idempotency_key IS NOT NULL AND created_at < $1 RETURNING 1';
  return calls + (await database.query({ text }, [new Date(before)])).length;
}
