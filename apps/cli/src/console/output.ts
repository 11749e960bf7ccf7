/** Prints results: a table for people, JSON lines for programs. Messages go to standard error. */
import Table from 'cli-table3';
import { jsonLine, printable } from './printable.js';

export interface Column<Row> {
  readonly head: string;
  readonly of: (row: Row) => unknown;
}

export interface OutputOptions {
  readonly json?: boolean | undefined;
}

/** Rows that a table is made of at a time: the widths of its columns come from them. */
const tableRowsMax = 500;

export async function printRows<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly Column<Row>[],
  { json }: OutputOptions,
): Promise<void> {
  if (json === true) {
    for await (const row of rows) await write(`${jsonLine(row)}\n`);
    return;
  }
  let block: Row[] = [];
  let isEmpty = true;
  for await (const row of rows) {
    isEmpty = false;
    block.push(row);
    if (block.length < tableRowsMax) continue;
    await write(`${tableOf(block, columns)}\n`);
    block = [];
  }
  if (block.length > 0) await write(`${tableOf(block, columns)}\n`);
  if (isEmpty) say('Nothing found.');
}

/** One thing: its fields under each other. */
export async function printThing(thing: Readonly<Record<string, unknown>>, { json }: OutputOptions): Promise<void> {
  if (json === true) return write(`${jsonLine(thing)}\n`);
  const lines = Object.entries(thing).map(([name, value]) => ({ name, value }));
  await write(
    `${tableOf(lines, [
      { head: '', of: ({ name }) => name },
      { head: '', of: ({ value }) => value },
    ])}\n`,
  );
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Resolves when there is room for more: a slow reader slows the command down. */
export function write(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())));
}

/** Without lines: they are for reading and for `awk` alike. */
function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const bare = {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
  };
  const none = { left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' };
  const table = new Table({
    head: columns.some(({ head }) => head !== '') ? columns.map(({ head }) => head) : [],
    chars: { ...bare, ...none },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  for (const row of rows) table.push(columns.map((column) => cellOf(column.of(row))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return printable(value.join(', ')) || '-';
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? '-'));
}
