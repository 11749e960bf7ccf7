/** `--watch`: reads a list again and again, and prints what changed. */
import { FlotillaError } from '@flotilla/client';
import { setTimeout as pause } from 'node:timers/promises';
import { exitCodeOf, exitCodes, UsageError, type ExitCode } from '../exit-codes.js';
import { untilInterrupted } from './interrupt.js';
import { columnOf, formatOf, type ColumnLike, type OutputOptions } from './output-format.js';
import { RowPrinter, say, write } from './output.js';
import { jsonText } from './printable.js';
import { tableOf } from './table.js';
import { chosenColumns } from './output-format.js';

/** Moves the cursor home and clears the screen. */
const clearScreen = '\u001b[H\u001b[2J\u001b[3J';

interface Watch {
  /** Ms between two readings. */
  readonly everyMs: number;
  /** For people, where a list has more rows than are read. */
  readonly more: string;
}

/**
 * A terminal shows the list of this moment. Elsewhere, and as JSON lines or CSV, each new or
 * changed row is printed once. Ends with Ctrl-C.
 */
export async function watchRows<Row>(
  read: (onMore: () => void) => AsyncIterable<Row>,
  likes: readonly ColumnLike<Row>[],
  options: OutputOptions,
  { everyMs, more }: Watch,
): Promise<ExitCode> {
  const format = formatOf(options);
  if (format === 'json') throw new UsageError('--watch has no end, so it cannot print one JSON array. Use jsonl.');
  const columns = likes.map(columnOf);
  const show = format === 'table' && process.stdout.isTTY ? redraw : printChanged();
  await untilInterrupted(async (signal) => {
    for (let isFirst = true; ; isFirst = false) {
      let areMore = false;
      const rows = await all(read(() => (areMore = true))).catch((error: unknown) => {
        // Later failures pass: a watch goes on while the hub restarts.
        if (isFirst || !isPassing(error)) throw error;
        say('The hub does not answer. Trying again.');
      });
      if (rows !== undefined) await show(rows, areMore);
      await pause(everyMs, undefined, { signal });
    }
  });
  return exitCodes.interrupted;

  async function redraw(rows: readonly Row[], areMore: boolean): Promise<void> {
    const table =
      rows.length === 0 ? 'Nothing found.' : tableOf(rows, chosenColumns(columns, options.columns, rows[0]));
    await write(`${clearScreen}${table}\n${areMore ? `${more}\n` : ''}`);
  }

  function printChanged(): (rows: readonly Row[], areMore: boolean) => Promise<void> {
    const printer = new RowPrinter(columns, options);
    let known: ReadonlySet<string> = new Set();
    let isSaid = false;
    return async (rows, areMore) => {
      const texts = rows.map((row) => jsonText(row));
      for (const [index, row] of rows.entries()) if (!known.has(texts[index] ?? '')) await printer.print(row);
      await printer.flush();
      known = new Set(texts);
      if (areMore && !isSaid) say(more);
      isSaid ||= areMore;
    };
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof FlotillaError && exitCodeOf(error) === exitCodes.unreachable;
}

async function all<Row>(rows: AsyncIterable<Row>): Promise<readonly Row[]> {
  const read: Row[] = [];
  for await (const row of rows) read.push(row);
  return read;
}
