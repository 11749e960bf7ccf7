/** Prints results to standard output, which gets only data. Messages go to standard error. */
import { stringify } from 'csv-stringify/sync';
import { messageOf } from '../error-message.js';
import {
  chosenColumns,
  columnOf,
  formatOf,
  valueOf,
  type Column,
  type ColumnLike,
  type OutputFormat,
  type OutputOptions,
} from './output-format.js';
import { jsonText, printable } from './printable.js';
import { fieldsOf, tableOf } from './table.js';

/** Rows that a table is made of at a time: the widths of its columns come from them. */
const tableRowsMax = 500;

/** Prints rows as they arrive. An empty list is a message for people. */
export async function printRows<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  likes: readonly ColumnLike<Row>[],
  options: OutputOptions,
): Promise<void> {
  const printer = new RowPrinter(likes.map(columnOf), options);
  for await (const row of rows) await printer.print(row);
  await printer.end();
}

/** Prints the rows of one list in one format. */
export class RowPrinter<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #options: OutputOptions;
  readonly #format: OutputFormat;
  #chosen: readonly Column<Row>[] | undefined;
  #block: Row[] = [];

  constructor(columns: readonly Column<Row>[], options: OutputOptions) {
    this.#columns = columns;
    this.#options = options;
    this.#format = formatOf(options);
  }

  async print(row: Row): Promise<void> {
    const isFirst = this.#chosen === undefined;
    const columns = (this.#chosen ??= chosenColumns(this.#columns, this.#options.columns, row));
    if (this.#format === 'table') {
      this.#block.push(row);
      if (this.#block.length >= tableRowsMax) await this.flush();
      return;
    }
    if (this.#format === 'csv')
      return write(`${isFirst ? csvLine(columns.map(({ key }) => key)) : ''}${csvOf(row, columns)}`);
    const value = this.#options.columns === undefined ? row : picked(row, columns);
    if (this.#format === 'jsonl') return write(`${jsonText(value)}\n`);
    await write(`${isFirst ? '[' : ','}\n${jsonText(value, 2).replace(/^/gm, '  ')}`);
  }

  /** Prints what waits for a table to be complete. */
  async flush(): Promise<void> {
    if (this.#block.length > 0) await write(`${tableOf(this.#block, this.#chosen ?? this.#columns)}\n`);
    this.#block = [];
  }

  async end(): Promise<void> {
    await this.flush();
    if (this.#format === 'json') return write(this.#chosen === undefined ? '[]\n' : '\n]\n');
    if (this.#chosen !== undefined) return;
    const columns = chosenColumns(this.#columns, this.#options.columns, undefined);
    if (this.#format === 'csv') return write(csvLine(columns.map(({ key }) => key)));
    if (this.#format === 'table') say('Nothing found.');
  }
}

/** One thing: its fields under each other. */
export async function printThing(thing: Readonly<Record<string, unknown>>, options: OutputOptions): Promise<void> {
  const format = formatOf(options);
  const fields = Object.keys(thing).map((key) => ({ key }));
  // The hub made the change, and the key lacks the scope that reads it.
  if (fields.length === 0) {
    say('Done. The key lacks the scope that reads the result.');
    return format === 'json' || format === 'jsonl' ? write('{}\n') : undefined;
  }
  const columns = chosenColumns<Readonly<Record<string, unknown>>>(fields, options.columns, thing);
  const value = picked(thing, columns);
  switch (format) {
    case 'json':
      return write(`${jsonText(value, 2)}\n`);
    case 'jsonl':
      return write(`${jsonText(value)}\n`);
    case 'csv':
      return write(csvLine(columns.map(({ key }) => key)) + csvOf(thing, columns));
    case 'table':
      return write(`${fieldsOf(value)}\n`);
  }
}

/** The result of a change, which a wrong `--columns` must not hide: it may have a new secret. */
export function printChange(thing: Readonly<Record<string, unknown>>, options: OutputOptions): Promise<void> {
  const fields = Object.keys(thing).map((key) => ({ key }));
  return printThing(thing, fields.length === 0 ? options : withKnownColumns(fields, options, thing));
}

/** The list that a change returns, also with a wrong `--columns`. */
export function printChanges<Row>(
  rows: readonly Row[],
  likes: readonly ColumnLike<Row>[],
  options: OutputOptions,
): Promise<void> {
  return printRows(rows, likes, withKnownColumns(likes.map(columnOf), options, rows[0]));
}

/** The options, without `--columns` where it names what `sample` does not have. */
export function withKnownColumns<Row>(
  columns: readonly Column<Row>[],
  options: OutputOptions,
  sample: Row | undefined,
): OutputOptions {
  try {
    chosenColumns(columns, options.columns, sample);
    return options;
  } catch (error) {
    say(`${messageOf(error)} All columns are printed instead.`);
    return { output: options.output, json: options.json };
  }
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** What a command does whose output cannot be written any more. */
let withoutOutput: 'ends' | 'goes on' | 'fails' = 'ends';

/** For a command that shows what it will change: a reader that stops early does not stop it. */
export function goOnWithoutReader(): void {
  withoutOutput = 'goes on';
}

/** For a command that prints what it cannot print again: `write` rejects, and it says what next. */
export function failWithoutOutput(): void {
  withoutOutput = 'fails';
}

/** Whether the command itself deals with this error of its output. */
export function isOutputErrorHandled(error: NodeJS.ErrnoException): boolean {
  return withoutOutput === 'fails' || isReaderMissed(error);
}

/** The reader of the output closed it early, as `head` does, and the command goes on. */
function isReaderMissed({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' && withoutOutput === 'goes on';
}

/** Resolves when there is room for more: a slow reader slows the command down. */
export function write(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) =>
    process.stdout.write(text, (error) => (error && !isReaderMissed(error) ? reject(error) : resolve())),
  );
}

function picked<Row>(row: Row, columns: readonly Column<Row>[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(columns.map((column) => [column.key, valueOf(row, column) ?? null]));
}

function csvOf<Row>(row: Row, columns: readonly Column<Row>[]): string {
  return csvLine(columns.map((column) => csvCell(valueOf(row, column))));
}

/** Lists are separated by semicolons, as `devices import` reads them. */
function csvCell(value: unknown): string | number {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return csvCell(value.join(';'));
  if (typeof value !== 'string') return jsonText(value);
  // A file gets the text as it is; a terminal would obey the control sequences of a device.
  return process.stdout.isTTY ? printable(value) : value;
}

/** Spreadsheets run texts that begin with `=` and the like, so those get an apostrophe. */
function csvLine(cells: readonly (string | number)[]): string {
  return stringify([[...cells]], { escape_formulas: true });
}
