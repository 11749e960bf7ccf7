/**
 * Opaque cursors of keyset pagination: the sort key of a row, for the list it came from and no
 * other.
 */
import { z } from 'zod';
import type { Page, PageRequest } from '../page.js';
import { RegistryError } from '../registry-error.js';
import { storableText } from './json-rows.js';

/** More rows than this in one page is a mistake of the caller; the API's own limit is lower. */
const PAGE_ROWS_MAX = 10_000;

export type CursorKey = readonly (string | number)[];

export function encodeCursor(list: string, key: CursorKey): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString('base64url');
}

/**
 * The key in a cursor of this list, as `key` says, or undefined for the first page. Throws
 * RegistryError ARGUMENT_INVALID for anything else.
 */
export function decodeCursor<Key extends CursorKey>(
  list: string,
  page: PageRequest,
  key: z.ZodType<Key>,
): Key | undefined {
  if (!Number.isInteger(page.first) || page.first < 0 || page.first > PAGE_ROWS_MAX) {
    throw new RegistryError(
      'ARGUMENT_INVALID',
      `A page has 0 to ${String(PAGE_ROWS_MAX)} rows, not ${String(page.first)}.`,
    );
  }
  if (page.after === undefined) return undefined;
  const cursor = z
    .tuple([z.literal(list)])
    .rest(z.unknown())
    .safeParse(parseJson(page.after));
  const parsed = key.safeParse(cursor.data?.slice(1));
  // Callers can invent cursors: no row has a key that PostgreSQL cannot store.
  if (!parsed.success || !parsed.data.every(isStorable))
    throw new RegistryError(
      'ARGUMENT_INVALID',
      `This is not a cursor of the ${list} list: ${page.after.slice(0, 100)}`,
    );
  return parsed.data;
}

function isStorable(value: string | number): boolean {
  return typeof value === 'number' || storableText(value) === value;
}

function parseJson(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** A page out of `first + 1` rows. */
export function toPage<Source, Row>(
  sources: readonly Source[],
  request: PageRequest,
  list: string,
  keyOf: (source: Source) => CursorKey,
  toRow: (source: Source) => Row,
): Page<Row> {
  const shown = sources.slice(0, request.first);
  return {
    rows: shown.map(toRow),
    cursors: shown.map((source) => encodeCursor(list, keyOf(source))),
    hasNextPage: sources.length > request.first,
  };
}
