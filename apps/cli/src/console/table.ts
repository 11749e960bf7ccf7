/** A table without lines, which people and `awk` can read. */
import Table from 'cli-table3';
import { headOf, valueOf, wordsOf, type Column } from './output-format.js';
import { printable } from './printable.js';
import { isTime, relativeTime } from './relative-time.js';

const outside = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const inside = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];
const chars = { ...Object.fromEntries([...outside, ...inside].map((name) => [name, ''])), middle: '  ' };

/** Rows under the heads of their columns; times are relative to `now`. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[], now = Date.now()): string {
  return layOut(
    columns.map(headOf),
    rows.map((row) =>
      columns.map((column) => {
        const value = valueOf(row, column);
        return isTime(value) ? relativeTime(value, now) : cellOf(value);
      }),
    ),
  );
}

/** The fields of one thing, each with its name in words; times are absolute and relative. */
export function fieldsOf(thing: Readonly<Record<string, unknown>>, now = Date.now()): string {
  return layOut(
    [],
    Object.entries(thing).map(([name, value]) => [
      wordsOf(name),
      isTime(value) ? `${value} (${relativeTime(value, now)})` : fieldCellOf(value),
    ]),
  );
}

function layOut(head: string[], rows: readonly string[][]): string {
  const table = new Table({
    head,
    chars,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  table.push(...rows);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A long list has one line per item. */
function fieldCellOf(value: unknown): string {
  const line = cellOf(value);
  if (line.length <= listLengthMax || !Array.isArray(value)) return line;
  return value.map(cellOf).join('\n');
}

/** Columns of a list that is in one line. */
const listLengthMax = 80;

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return printable(value.join(', ')) || '-';
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? '-'));
}
