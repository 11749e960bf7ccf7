/**
 * Group commit: rows that arrive while one statement runs are written by the next, many at once.
 * Waits for a PostgreSQL that is away, finds the one row of a batch that is refused, and is
 * bounded. It decides nothing about what happens to rows that find it full.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import { isTransient } from './database.js';

export interface BatchWriterOptions<Row, Result> {
  readonly name: string;
  /** Writes all or nothing; resolves to one result per row, in order. */
  readonly write: (rows: readonly Row[]) => Promise<readonly Result[]>;
  /** Rows of one key never share a batch and keep their order. */
  readonly keyOf?: (row: Row) => string;
  /** Rows of one statement. */
  readonly rowsPerWrite: number;
  /** Rows waiting or being written; further ones are refused. */
  readonly depthMax: number;
  /** How long the first row of an idle writer waits for company. */
  readonly gatherMs: number;
  /**
   * How long rows gather between one write and the next where they are few, ms: a statement of ten
   * rows costs twice as much for each as one of a hundred. 0 unless given.
   */
  readonly pauseMs?: number;
  /** On close, rows that are not written in this time are given up, ms: 10 s unless given. */
  readonly closeWithinMs?: number | undefined;
  readonly logger: RegistryLogger;
}

interface Entry<Row, Result> {
  readonly row: Row;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const RETRY_DELAY_MIN_MS = 50;
const RETRY_DELAY_MAX_MS = 2_000;
export const CLOSE_WITHIN_MS = 10_000;

export class BatchWriter<Row, Result> {
  #queue: Entry<Row, Result>[] = [];
  #writing: readonly Entry<Row, Result>[] = [];
  #running: Promise<void> | undefined;
  #refusedTotal = 0;
  #closeBy = Number.POSITIVE_INFINITY;
  #hasGivenUp = false;

  constructor(private readonly options: BatchWriterOptions<Row, Result>) {}

  get depth(): number {
    return this.#queue.length + this.#writing.length;
  }

  get isFull(): boolean {
    return this.depth >= this.options.depthMax;
  }

  /**
   * Rejects with RegistryError OVERLOADED when full, CLOSED after close, DATABASE_REFUSED when
   * PostgreSQL refuses this very row.
   */
  add(row: Row): Promise<Result> {
    if (this.#closeBy !== Number.POSITIVE_INFINITY)
      return Promise.reject(new RegistryError('CLOSED', `The ${this.options.name} writer is closed.`));
    if (this.isFull) {
      this.#refusedTotal += 1;
      return Promise.reject(
        new RegistryError('OVERLOADED', `The ${this.options.name} writer holds ${String(this.depth)} rows, its limit.`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ row, since: Date.now(), resolve, reject });
      this.#running ??= this.#run();
    });
  }

  status(): WriterStatus {
    const oldest = this.#writing[0] ?? this.#queue[0];
    return {
      name: this.options.name,
      depth: this.depth,
      lagMs: oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.since),
      droppedTotal: this.#refusedTotal,
    };
  }

  /** Resolves once no row waits; during an outage of PostgreSQL that may take long. */
  async written(): Promise<void> {
    await this.#running;
  }

  /** Writes what waits, and gives up what is not written at the time `by`. */
  async close(by = Date.now() + (this.options.closeWithinMs ?? CLOSE_WITHIN_MS)): Promise<void> {
    this.#closeBy = Math.min(this.#closeBy, by);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.#closeBy - Date.now())));
    await Promise.race([this.#running, late]);
    clearTimeout(timer);
    this.#giveUp();
  }

  /** A write that hangs may still happen. Its result does not matter any more. */
  #giveUp(): void {
    const entries = [...this.#writing, ...this.#queue];
    this.#hasGivenUp = true;
    this.#queue = [];
    this.#writing = [];
    if (entries.length > 0)
      this.#refuse(entries, new RegistryError('DATABASE_UNAVAILABLE', 'PostgreSQL did not take the rows in time.'));
  }

  async #run(): Promise<void> {
    const { gatherMs, pauseMs = 0, rowsPerWrite } = this.options;
    // Also with a gather time of 0 everything of the same turn of the event loop comes along.
    await (gatherMs === 0 ? new Promise((resolve) => setImmediate(resolve)) : sleep(gatherMs));
    while (this.#queue.length > 0) {
      this.#writing = this.#take();
      await this.#write(this.#writing);
      this.#writing = [];
      if (pauseMs > 0 && this.#queue.length > 0 && this.#queue.length < rowsPerWrite) await sleep(pauseMs);
    }
    this.#running = undefined;
  }

  #take(): readonly Entry<Row, Result>[] {
    const { keyOf, rowsPerWrite } = this.options;
    if (keyOf === undefined) return this.#queue.splice(0, rowsPerWrite);
    const keys = new Set<string>();
    const taken: Entry<Row, Result>[] = [];
    const left: Entry<Row, Result>[] = [];
    for (const entry of this.#queue) {
      const key = keyOf(entry.row);
      if (taken.length >= rowsPerWrite || keys.has(key)) left.push(entry);
      else taken.push(entry);
      keys.add(key);
    }
    this.#queue = left;
    return taken;
  }

  async #write(entries: readonly Entry<Row, Result>[]): Promise<void> {
    try {
      const results = await this.#writeWhenPossible(entries.map((entry) => entry.row));
      entries.forEach((entry, index) => {
        const result = results[index];
        if (result === undefined && results.length !== entries.length)
          entry.reject(new RegistryError('DATABASE_REFUSED', 'The row was not written.'));
        // A writer without results resolves to undefined for each row.
        else entry.resolve(result as Result);
      });
    } catch (error) {
      await this.#isolate(entries, error);
    }
  }

  /** Halves a refused batch until the refused rows are alone. */
  async #isolate(entries: readonly Entry<Row, Result>[], error: unknown): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    if (this.#hasGivenUp) return;
    if (entries.length === 1 || isTransient(error)) return this.#refuse(entries, error);
    const half = Math.ceil(entries.length / 2);
    await this.#write(entries.slice(0, half));
    await this.#write(entries.slice(half));
  }

  #refuse(entries: readonly Entry<Row, Result>[], error: unknown): void {
    this.#refusedTotal += entries.length;
    this.options.logger.error({ writer: this.options.name, rows: entries.length, err: error }, 'rows were not written');
    for (const entry of entries) entry.reject(error);
  }

  async #writeWhenPossible(rows: readonly Row[]): Promise<readonly Result[]> {
    let delayMs = RETRY_DELAY_MIN_MS;
    for (;;) {
      try {
        return await this.options.write(rows);
      } catch (error) {
        if (!isTransient(error) || Date.now() + delayMs > this.#closeBy) throw error;
        this.options.logger.warn(
          { writer: this.options.name, depth: this.depth, retryInMs: delayMs, err: error },
          'PostgreSQL does not answer; rows wait',
        );
        await sleep(delayMs);
        delayMs = Math.min(delayMs * 2, RETRY_DELAY_MAX_MS);
      }
    }
  }
}
