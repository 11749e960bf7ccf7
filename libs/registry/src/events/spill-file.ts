/**
 * Rows that wait in a bounded file, one per line, because the writer is full. Rows above the bound
 * are refused.
 */
import { createReadStream } from 'node:fs';
import { appendFile, rename, rm, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { RegistryLogger } from '../registry-logger.js';

export class SpillFile<Row> {
  readonly #file: string;
  readonly #bytesMax: number;
  readonly #logger: RegistryLogger;
  #bytes = 0;
  #waiting: string[] = [];
  #appending: Promise<void> | undefined;

  constructor(file: string, bytesMax: number, logger: RegistryLogger) {
    this.#file = file;
    this.#bytesMax = bytesMax;
    this.#logger = logger;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Finds the rows of an earlier process. */
  async open(): Promise<void> {
    const sizes = await Promise.all(
      [this.#file, this.#reading].map((file) =>
        stat(file).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    this.#bytes += sizes.reduce((sum, size) => sum + size, 0);
  }

  /** False when the file is full. Never waits. */
  add(row: Row): boolean {
    const line = `${JSON.stringify(row)}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    this.#waiting.push(line);
    this.#appending ??= this.#append();
    return true;
  }

  /** Passes all rows to `take`, in order, and then removes them. Must not run twice at a time. */
  async drain(parse: (line: unknown) => Row | undefined, take: (row: Row) => Promise<void>): Promise<void> {
    await this.#appending;
    // An interrupted drain left its file; later rows are in the other file.
    if (!(await exists(this.#reading))) {
      if (!(await exists(this.#file))) return;
      await rename(this.#file, this.#reading);
    }
    for await (const line of createInterface({ input: createReadStream(this.#reading) })) {
      const row = parseLine(line, parse);
      if (row === undefined) this.#logger.warn({ file: this.#reading }, 'skipped an unreadable line of the spill file');
      else await take(row);
    }
    const { size } = await stat(this.#reading);
    await rm(this.#reading);
    this.#bytes = Math.max(0, this.#bytes - size);
  }

  async close(): Promise<void> {
    await this.#appending;
  }

  get #reading(): string {
    return `${this.#file}.reading`;
  }

  async #append(): Promise<void> {
    while (this.#waiting.length > 0) {
      const text = this.#waiting.join('');
      this.#waiting = [];
      try {
        await appendFile(this.#file, text, { mode: 0o600 });
      } catch (error) {
        this.#bytes = Math.max(0, this.#bytes - Buffer.byteLength(text));
        this.#logger.error({ file: this.#file, err: error }, 'could not write the spill file; events are lost');
      }
    }
    this.#appending = undefined;
  }
}

function parseLine<Row>(line: string, parse: (line: unknown) => Row | undefined): Row | undefined {
  try {
    return parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
