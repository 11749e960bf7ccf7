/** `--output` and `--columns`: how a command prints its results. */
import { UsageError } from '../exit-codes.js';

export const outputFormats = ['table', 'json', 'jsonl', 'csv'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface OutputOptions {
  readonly output?: OutputFormat | undefined;
  /** Short for `--output jsonl`. */
  readonly json?: boolean | undefined;
  /** Names of columns, separated by commas. */
  readonly columns?: string | undefined;
}

export function formatOf({ output, json }: OutputOptions): OutputFormat {
  if (json !== true) return output ?? 'table';
  if (output === undefined || output === 'jsonl') return 'jsonl';
  throw new UsageError(`--json is short for --output jsonl. Omit it, or omit --output ${output}.`);
}

/** One column of a list. */
export interface Column<Row> {
  /** Its name in CSV, JSON and `--columns`: the field of the API, such as `lastSeenAt`. */
  readonly key: string;
  /** Its head in a table. Default: the key in words. */
  readonly head?: string;
  /** Its value. Default: the field with the name `key`, where dots lead into objects. */
  readonly of?: (row: Row) => unknown;
}

/** A column is often only a field of its rows. */
export type ColumnLike<Row> = (keyof Row & string) | Column<Row>;

export function columnOf<Row>(like: ColumnLike<Row>): Column<Row> {
  return typeof like === 'string' ? { key: like } : like;
}

/** Such as "LAST SEEN" for `lastSeenAt`. */
export function headOf({ key, head }: Column<never>): string {
  return head ?? wordsOf(key).toUpperCase();
}

/** Such as "last seen" for `lastSeenAt`. */
export function wordsOf(key: string): string {
  return key
    .replace(/(?<=.)At$/, '')
    .replace(/[A-Z]+/g, (capitals) => ` ${capitals.toLowerCase()}`)
    .replaceAll('.', ' ')
    .trim();
}

export function valueOf<Row>(row: Row, { key, of }: Column<Row>): unknown {
  return of === undefined ? fieldOf(row, key) : of(row);
}

function fieldOf(row: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? Reflect.get(value, name)
          : undefined,
      row,
    );
}

/**
 * The columns that `--columns` names: columns of the list, or fields of its rows. `sample` is the
 * first row, if there is one.
 */
export function chosenColumns<Row>(
  columns: readonly Column<Row>[],
  chosen: string | undefined,
  sample: Row | undefined,
): readonly Column<Row>[] {
  if (chosen === undefined) return columns;
  return chosen.split(',').map((typed) => {
    const name = typed.trim();
    const known = columns.find((column) => plain(column.key) === plain(name) || plain(headOf(column)) === plain(name));
    if (known !== undefined) return known;
    if (name !== '' && (sample === undefined || mayHave(sample, name))) return { key: name };
    throw new UsageError(`There is no column "${name}". The columns are ${namesOf(columns, sample).join(', ')}.`);
  });
}

/** Whether rows can have this field. What is null in one row can have fields in another. */
function mayHave(row: unknown, key: string): boolean {
  let value = row;
  for (const name of key.split('.')) {
    if (value === null) return true;
    if (typeof value !== 'object' || !Object.hasOwn(value, name)) return false;
    value = Reflect.get(value, name);
  }
  return true;
}

function namesOf<Row>(columns: readonly Column<Row>[], sample: Row | undefined): readonly string[] {
  const fields = typeof sample === 'object' && sample !== null ? Object.keys(sample) : [];
  return [...new Set([...columns.map(({ key }) => key), ...fields])];
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[ _-]/g, '');
}
