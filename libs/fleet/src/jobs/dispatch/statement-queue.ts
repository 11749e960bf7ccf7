/**
 * How jobs share PostgreSQL with the single calls of their process. Alone, they run large
 * statements side by side. While single calls are expected, statements run one after the other and
 * are smaller.
 */
import type { SingleCalls } from '../../calls/single-calls.js';

/** Targets of one statement: a bigger one is no cheaper per target. */
const rowsMaxAlone = 500;
/** While single calls run: halves their longest wait, and costs a fifth of a job's rate. */
const rowsMaxBeside = 200;

export class StatementQueue {
  /** Ends with the statement that was queued last, and never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly singleCalls: Pick<SingleCalls, 'areExpected'>) {}

  /** Targets that one statement may move now. */
  get rowsMax(): number {
    return this.singleCalls.areExpected ? rowsMaxBeside : rowsMaxAlone;
  }

  /** Runs the statement, after those before it while single calls are expected. */
  run<Result>(statement: () => Promise<Result>): Promise<Result> {
    if (!this.singleCalls.areExpected) return statement();
    const result = this.#last.then(statement);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
