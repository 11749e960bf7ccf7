/**
 * Limits wrong codes: ten in ten minutes per approver, and a hundred in total. SQL under a lock.
 */
import type { Queryable } from '../../database/database.js';

const WINDOW_MS = 10 * 60_000;
const FAILURES_MAX = 10;
/** With 1,000 waiting devices one guess in 1,000 is right: many keys together are limited, too. */
const FAILURES_OF_ALL_MAX = 100;

/** Whether the approver may try a code. Needs the lock of pending enrolments. */
export async function mayTry(transaction: Queryable, approver: string, at: number): Promise<boolean> {
  const [row] = await transaction.query<{ own: number; all: number }>(
    {
      text: `SELECT count(*) FILTER (WHERE approver = $1)::int AS own, count(*)::int AS all
             FROM approval_failure WHERE at > to_timestamp($2::float8 / 1000)`,
    },
    [approver, at - WINDOW_MS],
  );
  return row !== undefined && row.own < FAILURES_MAX && row.all < FAILURES_OF_ALL_MAX;
}

/** Records a wrong code, and removes those that no longer count. */
export async function countFailure(transaction: Queryable, approver: string, at: number): Promise<void> {
  await transaction.query({ text: 'DELETE FROM approval_failure WHERE at <= to_timestamp($1::float8 / 1000)' }, [
    at - WINDOW_MS,
  ]);
  await transaction.query(
    { text: 'INSERT INTO approval_failure (approver, at) VALUES ($1, to_timestamp($2::float8 / 1000))' },
    [approver, at],
  );
}
