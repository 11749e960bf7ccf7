/** Gathers the ends of attempts and writes them in batches, one batch at a time. Loses none while the run lives, whatever PostgreSQL does. */
import type { TargetFlush } from '@flotilla/registry';
import type { RunContext } from './run-context.js';

/** Rows of one statement: beyond it a bigger statement is no cheaper per row. */
const flushRowsMax = 500;
/** Longest time that an outcome waits for others, ms: what an abort rule may be late by. */
const flushDelayMs = 200;

export class OutcomeBuffer {
  readonly #run: RunContext;
  readonly #onFlushed: (kinds: ReadonlySet<TargetFlush['to']['kind']>) => void;
  #waiting: TargetFlush[] = [];
  #writingCount = 0;
  #cancelTimer: (() => void) | undefined;

  /** `onFlushed` runs after each batch, with the kinds of ends in it. */
  constructor(run: RunContext, onFlushed: (kinds: ReadonlySet<TargetFlush['to']['kind']>) => void) {
    this.#run = run;
    this.#onFlushed = onFlushed;
  }

  /** Ends that are not in PostgreSQL yet. */
  get depth(): number {
    return this.#waiting.length + this.#writingCount;
  }

  add(flush: TargetFlush): void {
    this.#waiting.push(flush);
    if (this.#writingCount > 0) return;
    if (this.#waiting.length >= flushRowsMax) this.flush();
    else this.#cancelTimer ??= this.#run.deps.clock.setTimer(flushDelayMs, () => this.flush());
  }

  /** Begins to write what waits, if nothing is being written. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#writingCount > 0 || this.#waiting.length === 0) return;
    const rows = this.#waiting.splice(0, flushRowsMax);
    this.#writingCount = rows.length;
    void this.#write(rows);
  }

  async #write(rows: readonly TargetFlush[]): Promise<void> {
    const { deps, fence } = this.#run;
    try {
      await this.#run.persist('write outcomes', () => deps.registry.jobs.flush(fence, rows));
    } catch {
      // The run ended. Its rows are in flight in PostgreSQL: whoever takes the job over classifies them.
      this.#waiting = [];
    }
    this.#writingCount = 0;
    if (this.#waiting.length >= flushRowsMax) this.flush();
    else if (this.#waiting.length > 0) this.#cancelTimer ??= deps.clock.setTimer(flushDelayMs, () => this.flush());
    this.#onFlushed(new Set(rows.map(({ to }) => to.kind)));
  }
}
