/**
 * Rows that wait in a bounded file, one per line, because the writer is full. Rows above the bound
 * are refused. Processes may share the file: a drain claims it under another name.
 */
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { RegistryLogger } from '../registry-logger.js';

/** The end of the name of a claimed file. */
const CLAIMED = '.reading';

export class SpillFile<Row> {
  /** Of claimed and of own rows. */
  #bytes = 0;
  /** The rows that were added, and those of them that no longer wait for a claim. */
  #addedTotal = 0;
  #claimedTotal = 0;
  #waiting: string[] = [];
  #appending: Promise<void> | undefined;
  #claiming: Promise<unknown> = Promise.resolve();
  /** Files that this process drains. */
  #claimed: string[] = [];

  /** Calls `onLost` with the number of rows that could not be written to the file. */
  constructor(
    private readonly file: string,
    private readonly bytesMax: number,
    private readonly logger: RegistryLogger,
    private readonly onLost: (rows: number) => void = () => undefined,
  ) {}

  get isEmpty(): boolean {
    return this.#addedTotal === this.#claimedTotal && this.#claimed.length === 0;
  }

  /**
   * Finds the rows of earlier processes. A claimed file may be that of a process which still drains
   * it: both then take its rows.
   */
  async open(): Promise<void> {
    const [folder, start] = [path.dirname(this.file), `${path.basename(this.file)}.`];
    const names = await readdir(folder).catch(() => undefined);
    const claimed = (names ?? []).filter((name) => name.startsWith(start) && name.endsWith(CLAIMED));
    this.#claimed = claimed.map((name) => path.join(folder, name));
    for (const file of this.#claimed) this.#bytes += await sizeOf(file);
    const bytes = await sizeOf(this.file);
    this.#bytes += bytes;
    if (bytes > 0) this.#addedTotal += 1;
  }

  /** False when the file is full. Never waits. */
  add(row: Row): boolean {
    const line = `${JSON.stringify(row)}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.bytesMax) return false;
    this.#bytes += bytes;
    this.#addedTotal += 1;
    this.#waiting.push(line);
    this.#appending ??= this.#append();
    return true;
  }

  /** Passes all rows to `take`, in order, and then removes them. Must not run twice at a time. */
  async drain(parse: (line: unknown) => Row | undefined, take: (row: Row) => Promise<void>): Promise<void> {
    while (this.#appending !== undefined) await this.#appending;
    await this.#claim();
    for (let file = this.#claimed[0]; file !== undefined; file = this.#claimed[0]) {
      const handle = await open(file).catch(unlessMissing);
      if (handle !== undefined) await this.#pass({ file, handle }, parse, take);
      this.#claimed.shift();
    }
    // Files that other processes removed were counted, too.
    if (this.isEmpty) this.#bytes = 0;
  }

  async close(): Promise<void> {
    await this.#appending;
  }

  /** Of processes that share the file, one gets it. */
  async #claim(): Promise<void> {
    const added = this.#addedTotal;
    const claimed = `${this.file}.${randomUUID()}${CLAIMED}`;
    const claiming = rename(this.file, claimed).then(() => true, unlessMissing);
    this.#claiming = claiming;
    const isClaimed = await claiming;
    if (isClaimed === true) this.#claimed.push(claimed);
    // Otherwise another process has the rows of this one.
    this.#claimedTotal = added;
  }

  async #pass(
    { file, handle }: { readonly file: string; readonly handle: FileHandle },
    parse: (line: unknown) => Row | undefined,
    take: (row: Row) => Promise<void>,
  ): Promise<void> {
    try {
      for await (const line of handle.readLines({ autoClose: false })) {
        const row = parseLine(line, parse);
        if (row === undefined) this.logger.warn({ file }, 'skipped an unreadable line of the spill file');
        else await take(row);
      }
      const { size } = await handle.stat();
      await rm(file, { force: true });
      this.#bytes = Math.max(0, this.#bytes - size);
    } finally {
      await handle.close();
    }
  }

  async #append(): Promise<void> {
    // A row that is written to the file meanwhile could come after its reader has ended. Processes
    // that share the file do not wait for each other.
    await this.#claiming.catch(() => undefined);
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      const text = lines.join('');
      try {
        await mkdir(path.dirname(this.file), { recursive: true, mode: 0o700 });
        await appendFile(this.file, text, { mode: 0o600 });
      } catch (error) {
        this.#bytes = Math.max(0, this.#bytes - Buffer.byteLength(text));
        this.#addedTotal -= lines.length;
        this.logger.error({ file: this.file, err: error }, 'could not write the spill file; events are lost');
        this.onLost(lines.length);
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

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
