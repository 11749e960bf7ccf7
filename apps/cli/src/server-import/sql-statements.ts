/**
 * Splits a MySQL dump into statements, and skips those of other tables while it reads: a
 * chat history can have gigabytes.
 */

export class DumpError extends Error {
  override readonly name = 'DumpError';
}

/** Characters of one statement; mysqldump ends one at about a megabyte. */
const STATEMENT_MAX = 64 * 1024 * 1024;
/** Characters that show which table a statement is about. */
const HEAD_MAX = 400;
const head =
  /^(?:INSERT|REPLACE)\s+(?:LOW_PRIORITY\s+|DELAYED\s+|IGNORE\s+)*INTO\s+|^CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?/i;

/** The table of an INSERT or CREATE TABLE; undefined for another statement. */
export function tableOf(statement: string): { readonly table: string; readonly end: number } | undefined {
  const verb = head.exec(statement);
  if (verb === null) return undefined;
  const name = /^(?:`[^`]+`\.|\w+\.)?(?:`([^`]+)`|(\w+))/.exec(statement.slice(verb[0].length));
  const table = name?.[1] ?? name?.[2];
  return name === null || table === undefined
    ? undefined
    : { table: table.toLowerCase(), end: verb[0].length + name[0].length };
}

type Place = 'code' | 'line comment' | 'block comment' | "'" | '"' | '`';

/** Statements of these tables, without comments and without the semicolon. */
export async function* statementsOf(
  chunks: AsyncIterable<string>,
  tables: ReadonlySet<string>,
): AsyncGenerator<string, void, void> {
  let place = 'code' as Place;
  let statement = '';
  let isSkipped = false;
  let rest = '';
  const keep = (text: string) => {
    if (isSkipped) return;
    statement = statement === '' ? text.trimStart() : statement + text;
    if (statement.length > STATEMENT_MAX)
      throw new DumpError('A statement has more than 64 MB. Write the dump without --net-buffer-length.');
    if (statement.length < HEAD_MAX) return;
    isSkipped = !tables.has(tableOf(statement)?.table ?? '');
    if (isSkipped) statement = '';
  };
  for await (const chunk of withEnd(chunks)) {
    const text = rest + (chunk ?? '');
    const isLast = chunk === undefined;
    let from = 0;
    let index = 0;
    // The last character waits for its successor: it may begin a comment or an escape.
    for (; index < text.length - (isLast ? 0 : 1); index += 1) {
      const two = text.slice(index, index + 2);
      const one = two[0] ?? '';
      if (place === 'code') {
        if (one === ';') {
          keep(text.slice(from, index));
          if (!isSkipped && tables.has(tableOf(statement)?.table ?? '')) yield statement;
          [statement, isSkipped, from] = ['', false, index + 1];
        } else if (two === '--' || one === '#' || two === '/*') {
          keep(text.slice(from, index));
          place = two === '/*' ? 'block comment' : 'line comment';
          if (place === 'block comment') index += 1;
          from = index + 1;
        } else if (one === "'" || one === '"' || one === '`') place = one;
      } else if (place === 'line comment') {
        if (one !== '\n') continue;
        [place, from] = ['code', index];
      } else if (place === 'block comment') {
        if (two !== '*/') continue;
        index += 1;
        [place, from] = ['code', index + 1];
      } else if (one === '\\' && place !== '`') index += 1;
      else if (one === place) place = 'code';
    }
    if (!isComment(place)) keep(text.slice(from, index));
    rest = text.slice(index);
  }
  if (!isComment(place) && place !== 'code') throw new DumpError('The dump ends in the middle of a text.');
  if (!isSkipped && tables.has(tableOf(statement)?.table ?? '')) yield statement;
}

function isComment(place: Place): boolean {
  return place === 'line comment' || place === 'block comment';
}

async function* withEnd(chunks: AsyncIterable<string>): AsyncGenerator<string | undefined, void, void> {
  yield* chunks;
  yield undefined;
}
