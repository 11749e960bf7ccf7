import type { Database } from '../database/database.js';
import { removeInBatches } from './remove-in-batches.js';

/** Frees idempotency keys for other requests: those of calls, and those of jobs, which stay themselves. */
export async function removeKeysBefore(database: Database, before: number): Promise<number> {
  const calls = await removeInBatches(database, 'call_key', 'r.started_at < $1', [new Date(before)]);
  const text =
    'UPDATE job SET idempotency_key = NULL WHERE idempotency_key IS NOT NULL AND created_at < $1 RETURNING 1';
  return calls + (await database.query({ text }, [new Date(before)])).length;
}
