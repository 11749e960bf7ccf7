/** Reads the rows of an INSERT, and the columns of a CREATE TABLE, as mysqldump writes them. */
import { DumpError, tableOf } from './sql-statements.js';

/** A value of the dump; numbers stay texts, because their ids have 19 digits. */
export type DumpValue = string | null;

const escapes: Readonly<Record<string, string>> = { '0': '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a' };

/** In the order of the table; an INSERT without names uses it. */
export function columnsOf(create: string): readonly string[] {
  const reader = new Reader(create, tableOf(create)?.end ?? 0);
  reader.expect('(');
  const names: string[] = [];
  do {
    // Keys and constraints follow the columns, and begin with a word instead of a quoted name.
    if (!reader.isAt('`')) break;
    names.push(reader.name());
    reader.skipDefinition();
  } while (reader.takes(','));
  return names;
}

/** The rows of an INSERT, by column. `known`: the columns, where the INSERT names none. */
export function* rowsOf(
  insert: string,
  known: readonly string[] | undefined,
): Generator<Readonly<Record<string, DumpValue>>, void, void> {
  const { table = '', end = 0 } = tableOf(insert) ?? {};
  const reader = new Reader(insert, end);
  const columns = reader.isAt('(') ? reader.names() : known;
  if (columns === undefined)
    throw new DumpError(
      `An INSERT into ${table} names no columns, and the dump has no CREATE TABLE before it. ` +
        'Write the dump with --complete-insert.',
    );
  reader.word('VALUES');
  do {
    const values = reader.values();
    if (values.length !== columns.length)
      throw new DumpError(`A row of ${table} has ${values.length} values for ${columns.length} columns.`);
    yield Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null]));
  } while (reader.takes(','));
}

class Reader {
  constructor(
    private readonly text: string,
    private at: number,
  ) {}

  isAt(token: string): boolean {
    while (/\s/.test(this.text[this.at] ?? '')) this.at += 1;
    return this.text.startsWith(token, this.at);
  }

  takes(token: string): boolean {
    const isThere = this.isAt(token);
    if (isThere) this.at += token.length;
    return isThere;
  }

  expect(token: string): void {
    if (!this.takes(token)) throw this.#unreadable();
  }

  word(word: string): void {
    this.isAt('');
    if (this.text.slice(this.at, this.at + word.length).toUpperCase() !== word) throw this.#unreadable();
    this.at += word.length;
  }

  name(): string {
    if (this.isAt('`')) return this.#quoted('`').toLowerCase();
    return this.#match(/\w+/y).toLowerCase();
  }

  names(): readonly string[] {
    this.expect('(');
    const names: string[] = [];
    do names.push(this.name());
    while (this.takes(','));
    this.expect(')');
    return names;
  }

  values(): readonly DumpValue[] {
    this.expect('(');
    const values: DumpValue[] = [];
    do values.push(this.#value());
    while (this.takes(','));
    this.expect(')');
    return values;
  }

  /** To the comma after a column, or to the end of the table. */
  skipDefinition(): void {
    for (let depth = 0; this.at < this.text.length; this.at += 1) {
      const one = this.text[this.at] ?? '';
      if (one === "'" || one === '"' || one === '`') {
        this.#quoted(one);
        this.at -= 1;
      } else if (one === '(') depth += 1;
      else if (depth === 0 && (one === ',' || one === ')')) return;
      else if (one === ')') depth -= 1;
    }
    throw this.#unreadable();
  }

  #value(): DumpValue {
    if (this.isAt('_')) this.#match(/_\w+/y);
    for (const quote of ["'", '"']) if (this.isAt(quote)) return this.#quoted(quote);
    const word = this.#match(/[^\s,()'"]+/y);
    if (/^null$/i.test(word)) return null;
    const bits = this.isAt("'") && /^[bxn]$/i.test(word) ? this.#quoted("'") : undefined;
    return bits ?? word;
  }

  #quoted(quote: string): string {
    this.expect(quote);
    let read = '';
    for (;;) {
      const one = this.text[this.at];
      const next = this.text[this.at + 1];
      if (one === undefined) throw this.#unreadable();
      if (one === '\\' && quote !== '`') {
        read += escapes[next ?? ''] ?? next ?? '';
        this.at += 2;
      } else if (one !== quote) {
        read += one;
        this.at += 1;
      } else if (next === quote) {
        read += quote;
        this.at += 2;
      } else {
        this.at += 1;
        return read;
      }
    }
  }

  #match(pattern: RegExp): string {
    this.isAt('');
    pattern.lastIndex = this.at;
    const [word] = pattern.exec(this.text) ?? [];
    if (word === undefined) throw this.#unreadable();
    this.at += word.length;
    return word;
  }

  /** Names the place without the values around it: they may be secrets. */
  #unreadable(): DumpError {
    return new DumpError(
      `A statement about ${tableOf(this.text)?.table ?? 'a table'} cannot be read at its character ${this.at + 1}.`,
    );
  }
}
