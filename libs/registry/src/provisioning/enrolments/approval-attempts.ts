/** Limits wrong codes: ten in ten minutes per approver and a hundred in total, over all processes. */
import type { Transaction } from '../../database/database.js';

const WINDOW_MS = 10 * 60_000;
const FAILURES_MAX = 10;
/** With 1,000 waiting devices one guess in 1,000 is right, so many keys together are limited, too. */
const FAILURES_OF_ALL_MAX = 100;

/** Whether the approver may try a code. Needs the lock of pending enrolments. */
export function mayTry(transaction: Transaction, approver: string, at: number): Promise<boolean> {
  const recent = { at: { gt: new Date(at - WINDOW_MS) } };
  return transaction.ask(
    async ({ approvalFailure }) =>
      (await approvalFailure.count({ where: recent })) < FAILURES_OF_ALL_MAX &&
      (await approvalFailure.count({ where: { ...recent, approver } })) < FAILURES_MAX,
  );
}

/** Records a wrong code, and removes those that no longer count. */
export async function countFailure(transaction: Transaction, approver: string, at: number): Promise<void> {
  await transaction.ask(async ({ approvalFailure }) => {
    await approvalFailure.deleteMany({ where: { at: { lte: new Date(at - WINDOW_MS) } } });
    await approvalFailure.create({ data: { approver, at: new Date(at) } });
  });
}
