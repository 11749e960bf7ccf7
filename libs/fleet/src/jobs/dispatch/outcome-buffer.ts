/** Gathers the ends of attempts and writes them in batches. Loses none while the run lives, whatever PostgreSQL does. */
import type { TargetFlush } from '@flotilla/registry';
import type { RunContext } from '../engine/run-context.js';

/** Longest time that an outcome waits for others, ms: what an abort rule may be late by. */
const flushDelayMs = 200;

/** Batches that are written at once, the second only when it is full: otherwise the last calls of a job are long answered before they are all written. */
const writersMax = 2;

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
  readonly #writing = new Set<readonly TargetFlush[]>();
  #cancelTimer: (() => void) | undefined;

  /** `onFlushed` runs after each batch. */
  constructor(run: RunContext, onFlushed: (flushed: Flushed) => void) {
    this.#run = run;
    this.#onFlushed = onFlushed;
  }

  /** Ends that are not in PostgreSQL yet. */
  get depth(): number {
    let depth = this.#waiting.length;
    for (const batch of this.#writing) depth += batch.length;
    return depth;
  }

  /** Whether a failure is among them: the counters do not know of it yet. */
  get hasFailure(): boolean {
    return this.#waiting.some(isFailure) || [...this.#writing].some((batch) => batch.some(isFailure));
  }

  add(flush: TargetFlush): void {
    this.#waiting.push(flush);
    this.#writeFull();
    if (this.#writing.size === 0) this.#writeLater();
  }

  /** Begins to write what waits, if nothing is being written. */
  flush(): void {
    this.#stopWaiting();
    if (this.#writing.size === 0 && this.#waiting.length > 0) this.#writeNext();
  }

  #writeFull(): void {
    while (this.#waiting.length >= this.#run.turns.rowsMax && this.#writing.size < writersMax) this.#writeNext();
  }

  #writeLater(): void {
    if (this.#waiting.length > 0) this.#cancelTimer ??= this.#run.deps.clock.setTimer(flushDelayMs, () => this.flush());
  }

  #stopWaiting(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #writeNext(): void {
    this.#stopWaiting();
    const rows = this.#waiting.splice(0, this.#run.turns.rowsMax);
    this.#writing.add(rows);
    void this.#write(rows);
  }

  async #write(rows: readonly TargetFlush[]): Promise<void> {
    const { deps, fence, turns } = this.#run;
    try {
      await this.#run.persist('write outcomes', () => turns.take(() => deps.registry.jobs.flush(fence, rows)));
      this.#run.tellDecided(rows.flatMap(({ deviceId, to }) => (to.kind === 'decided' ? deviceId : [])));
    } catch {
      // The run ended. Its rows are in flight in PostgreSQL: whoever takes the job over classifies them.
      this.#waiting = [];
    }
    this.#writing.delete(rows);
    this.#writeFull();
    this.#writeLater();
    const retryAt = Math.min(...rows.map(({ to }) => (to.kind === 'retry' ? to.notBefore : Infinity)));
    this.#onFlushed({ kinds: new Set(rows.map(({ to }) => to.kind)), retryAt });
  }
}

function isFailure({ to }: TargetFlush): boolean {
  return to.kind === 'decided' && to.outcome !== 'SUCCEEDED' && to.outcome !== 'NO_CHANGE';
}
