/**
 * Pauses the upkeep of measurements during a dump. While a day is packed, its points may be in a
 * detached table, which is in no dump; and a COPY does not find a partition that was replaced since
 * the snapshot.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../database/database.js';
import { UPKEEP_LOCK } from '../measurements/measurement-upkeep.js';

const LOCK_NOT_AVAILABLE = '55P03';
const POLL_MS = 250;

/** Tables of points whose packs have replaced them. */
const DETACHED = {
  text: `SELECT FROM pg_class d JOIN pg_class k ON k.relnamespace = d.relnamespace AND k.relispartition
           AND k.relname = replace(d.relname, 'measurement_', 'measurement_pack_')
         WHERE d.relnamespace = current_schema()::regnamespace AND d.relname ~ '^measurement_[0-9]{8}$'
           AND NOT d.relispartition`,
};

/** Until the session ends. False if a dump may miss points: a day is still being packed. */
export async function pauseUpkeep(session: Queryable, waitMs: number): Promise<boolean> {
  const hasDetached = async () => (await session.query(DETACHED, [])).length > 0;
  // A pause now would leave the day so until the next round of the upkeep.
  for (const until = Date.now() + waitMs; Date.now() < until && (await hasDetached());) await sleep(POLL_MS);
  return (await lockUpkeep(session, waitMs)) && !(await hasDetached());
}

/** Shared: the upkeep only tries the lock. It has it for one step, of some seconds. */
async function lockUpkeep(session: Queryable, waitMs: number): Promise<boolean> {
  await session.query({ text: `SET lock_timeout = ${waitMs}` }, []);
  try {
    await session.query({ text: 'SELECT pg_advisory_lock_shared($1)' }, [UPKEEP_LOCK]);
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  } finally {
    await session.query({ text: 'RESET lock_timeout' }, []);
  }
}
