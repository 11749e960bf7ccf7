/**
 * Codes are short: whoever tries wrong ones may do so ten times in ten minutes, and all together a
 * hundred times, over all processes.
 */
import type { Queryable } from '../database/database.js';

const WINDOW_MS = 10 * 60_000;
const FAILURES_MAX = 10;
/**
 * With a thousand devices waiting, a guess is right once in a thousand: many keys together must not
 * have thousands.
 */
const FAILURES_OF_ALL_MAX = 100;

/**
 * In a transaction that holds the lock of what waits: attempts that come together are counted one
 * by one.
 */
export async function mayTry(transaction: Queryable, approver: string, at: number): Promise<boolean> {
  const [row] = await transaction.query<{ own: number; all: number }>(
    {
      text: `SELECT count(*) FILTER (WHERE approver = $1)::int AS own, count(*)::int AS all FROM approval_failure WHERE at > to_timestamp($2::float8 / 1000)`,
    },
    [approver, at - WINDOW_MS],
  );
  return row !== undefined && row.own < FAILURES_MAX && row.all < FAILURES_OF_ALL_MAX;
}

/** Forgets those that no longer count. */
export async function countFailure(transaction: Queryable, approver: string, at: number): Promise<void> {
  await transaction.query({ text: 'DELETE FROM approval_failure WHERE at <= to_timestamp($1::float8 / 1000)' }, [
    at - WINDOW_MS,
  ]);
  await transaction.query(
    { text: 'INSERT INTO approval_failure (approver, at) VALUES ($1, to_timestamp($2::float8 / 1000))' },
    [approver, at],
  );
}
