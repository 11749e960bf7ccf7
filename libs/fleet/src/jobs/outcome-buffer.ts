/** Gathers the ends of attempts and writes them in batches, one batch at a time. Loses none while the run lives, whatever PostgreSQL does. */
import type { TargetFlush } from '@flotilla/registry';
import type { RunContext } from './run-context.js';

/** Rows of one statement: beyond it a bigger statement is no cheaper per row. */
const flushRowsMax = 500;
/** Longest time that an outcome waits for others, ms: what an abort rule may be late by. */
const flushDelayMs = 200;

/** A batch that is written. */
export interface Flushed {
  readonly kinds: ReadonlySet<TargetFlush['to']['kind']>;
  /** When the first target that waits for another try is due, ms since the Unix epoch; Infinity where none does. */
  readonly retryAt: number;
}

export class OutcomeBuffer {
  readonly #run: RunContext;
  readonly #onFlushed: (flushed: Flushed) => void;
  #waiting: TargetFlush[] = [];
  #writing: readonly TargetFlush[] = [];
  #cancelTimer: (() => void) | undefined;

  /** `onFlushed` runs after each batch. */
  constructor(run: RunContext, onFlushed: (flushed: Flushed) => void) {
    this.#run = run;
    this.#onFlushed = onFlushed;
  }

  /** Ends that are not in PostgreSQL yet. */
  get depth(): number {
    return this.#waiting.length + this.#writing.length;
  }

  /** Whether a failure is among them: the counters do not know of it yet. */
  get hasFailure(): boolean {
    return this.#writing.some(isFailure) || this.#waiting.some(isFailure);
  }

  add(flush: TargetFlush): void {
    this.#waiting.push(flush);
    if (this.#writing.length > 0) return;
    if (this.#waiting.length >= flushRowsMax) this.flush();
    else this.#cancelTimer ??= this.#run.deps.clock.setTimer(flushDelayMs, () => this.flush());
  }

  /** Begins to write what waits, if nothing is being written. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#writing.length > 0 || this.#waiting.length === 0) return;
    this.#writing = this.#waiting.splice(0, flushRowsMax);
    void this.#write(this.#writing);
  }

  async #write(rows: readonly TargetFlush[]): Promise<void> {
    const { deps, fence } = this.#run;
    try {
      await this.#run.persist('write outcomes', () => deps.registry.jobs.flush(fence, rows));
      this.#run.tellDecided(rows.flatMap(({ deviceId, to }) => (to.kind === 'decided' ? deviceId : [])));
    } catch {
      // The run ended. Its rows are in flight in PostgreSQL: whoever takes the job over classifies them.
      this.#waiting = [];
    }
    this.#writing = [];
    if (this.#waiting.length >= flushRowsMax) this.flush();
    else if (this.#waiting.length > 0) this.#cancelTimer ??= deps.clock.setTimer(flushDelayMs, () => this.flush());
    const retryAt = Math.min(...rows.map(({ to }) => (to.kind === 'retry' ? to.notBefore : Infinity)));
    this.#onFlushed({ kinds: new Set(rows.map(({ to }) => to.kind)), retryAt });
  }
}

function isFailure({ to }: TargetFlush): boolean {
  return to.kind === 'decided' && to.outcome !== 'SUCCEEDED' && to.outcome !== 'NO_CHANGE';
}
