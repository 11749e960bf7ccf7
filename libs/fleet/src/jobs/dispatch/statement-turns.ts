/**
 * How the jobs of this process share PostgreSQL with single calls. Alone they claim and write in large batches and beside one another, which is fastest. While
 * somebody waits for single calls they take turns, in smaller batches: a call ends with a commit, and waits there for whatever keeps the processors.
 */
import type { SingleCalls } from '../../calls/single-calls.js';

/** Targets of one statement: beyond it a bigger one is no cheaper per target. */
const rowsMaxAlone = 500;
/** Beside single calls: half the longest wait of a call, for a fifth of a job's rate. */
const rowsMaxBeside = 200;

export class StatementTurns {
  /** Ends with the statement that had the last turn, and never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly singleCalls: Pick<SingleCalls, 'areExpected'>) {}

  /** Targets that one statement may move now. */
  get rowsMax(): number {
    return this.singleCalls.areExpected ? rowsMaxBeside : rowsMaxAlone;
  }

  /** Runs the statement, when its turn comes. */
  take<Result>(statement: () => Promise<Result>): Promise<Result> {
    if (!this.singleCalls.areExpected) return statement();
    const result = this.#last.then(statement);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
