/** Gathers the ends of attempts and writes them in batches. Keeps them while PostgreSQL is away. */
import { isFailure } from '@flotilla/jobs';
import type { TargetFlush } from '@flotilla/registry';
import type { RunContext } from '../engine/run-context.js';

/** Longest time that an end waits for others, ms: how late an abort rule may count it. */
const flushDelayMs = 200;

/** Batches that are written at once, the second only when it is full. */
const writersMax = 2;

export class OutcomeBuffer {
  #waiting: TargetFlush[] = [];
  #writers = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(private readonly context: RunContext) {}

  add(flush: TargetFlush): void {
    this.#waiting.push(flush);
    this.#writeFull();
    if (this.#writers === 0) this.#writeLater();
  }

  /** Begins to write what waits, if nothing is being written. */
  flush(): void {
    this.#stopWaiting();
    if (this.#writers === 0 && this.#waiting.length > 0) this.#writeNext();
  }

  #writeFull(): void {
    while (this.#waiting.length >= this.context.statements.rowsMax && this.#writers < writersMax) this.#writeNext();
  }

  #writeLater(): void {
    const { clock } = this.context.deps;
    if (this.#waiting.length > 0) this.#cancelTimer ??= clock.setTimer(flushDelayMs, () => this.flush());
  }

  #stopWaiting(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #writeNext(): void {
    this.#stopWaiting();
    this.#writers += 1;
    void this.#write(this.#waiting.splice(0, this.context.statements.rowsMax));
  }

  async #write(rows: readonly TargetFlush[]): Promise<void> {
    const { deps, fence, persist, statements, signal } = this.context;
    try {
      await persist('write outcomes', () => statements.run(() => deps.registry.targetQueue.flush(fence, rows)));
      this.context.publishDecided(rows.flatMap(({ deviceId, to }) => (to.kind === 'decided' ? deviceId : [])));
    } catch {
      // The run ended. Its rows are in flight in PostgreSQL, where the next owner classifies them.
      this.#waiting = [];
    }
    this.#writers -= 1;
    this.#writeFull();
    this.#writeLater();
    const kinds = new Set(rows.map(({ to }) => to.kind));
    signal({
      kind: 'flushed',
      flushed: {
        count: rows.length,
        failures: rows.filter(({ to }) => isFailure(to)).length,
        isSomeReady: kinds.has('ready'),
        isSomeVerifying: kinds.has('verifying'),
        retryAt: Math.min(...rows.map(({ to }) => (to.kind === 'retry' ? to.notBefore : Infinity))),
      },
    });
  }
}
