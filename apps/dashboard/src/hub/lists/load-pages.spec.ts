import { describe, expect, it } from 'vitest';
import {
  changedPage,
  joinPages,
  loadPages,
  noRows,
  type PageAnswer,
  rowsAfter,
  type RowsPatch,
  withPatch,
} from './load-pages';

/** A list of numbers in pages of two; the cursor is the number of rows before it. */
function listOf(count: number, failsAt = Number.POSITIVE_INFINITY) {
  const asked: (string | null)[] = [];
  const ask = (after: string | null): Promise<PageAnswer<number, string>> => {
    asked.push(after);
    const from = Number(after ?? 0);
    if (from >= failsAt) return Promise.resolve({ failure: 'no answer' });
    const rows = [from, from + 1].filter((row) => row < count);
    const hasNextPage = from + 2 < count;
    return Promise.resolve({ page: { rows, endCursor: String(from + rows.length), hasNextPage } });
  };
  return { asked, ask };
}
const always = () => true;

describe('the pages of a list', () => {
  it('are loaded one at a time while one is enough', async () => {
    const { asked, ask } = listOf(5);
    const first = await loadPages(ask, { after: null, rowsWanted: 0, isCurrent: always });
    expect(first?.page).toMatchObject({ rows: [0, 1], endCursor: '2', hasNextPage: true });
    const second = await loadPages(ask, { after: '2', rowsWanted: 0, isCurrent: always });
    expect(second?.page?.rows).toEqual([2, 3]);
    expect(asked).toEqual([null, '2']);
  });

  it('are loaded again up to the rows that were shown, and not further', async () => {
    const { asked, ask } = listOf(9);
    const again = await loadPages(ask, { after: null, rowsWanted: 3, isCurrent: always });
    expect(again?.page?.rows).toEqual([0, 1, 2, 3]);
    expect(asked).toEqual([null, '2']);
  });

  it('end with the list, also if more rows are wanted', async () => {
    const { asked, ask } = listOf(3);
    const all = await loadPages(ask, { after: null, rowsWanted: 100, isCurrent: always });
    expect(all?.page).toMatchObject({ rows: [0, 1, 2], hasNextPage: false });
    expect(asked).toHaveLength(2);
  });

  it('have no effect after the filter has changed', async () => {
    const { asked, ask } = listOf(9);
    expect(await loadPages(ask, { after: null, rowsWanted: 9, isCurrent: () => asked.length < 2 })).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it('stay when a later page fails, and the failure is reported', async () => {
    const { ask } = listOf(9, 4);
    const answer = await loadPages(ask, { after: null, rowsWanted: 9, isCurrent: always });
    expect(answer).toMatchObject({ page: { rows: [0, 1, 2, 3] }, failure: 'no answer' });
    expect(await loadPages(ask, { after: '4', rowsWanted: 0, isCurrent: always })).toEqual({
      page: undefined,
      failure: 'no answer',
    });
  });

  it('have the cursor of the last page', () => {
    const first = { rows: [1], endCursor: 'a', hasNextPage: true };
    const next = { rows: [2], endCursor: 'b', hasNextPage: false };
    expect(joinPages(first, next)).toEqual({ rows: [1, 2], endCursor: 'b', hasNextPage: false });
    expect(joinPages(undefined, next)).toBe(next);
  });
});

describe('the rows that a list shows', () => {
  const page = { rows: [1, 2], endCursor: '2', hasNextPage: true };
  const shown = { filter: 'online', page };

  it('are those of the latest answer, or with those of the page after them', () => {
    const next = { rows: [3], endCursor: '3', hasNextPage: false };
    expect(rowsAfter(shown, { filter: 'offline', after: null, page: next, patches: [] })).toEqual({
      filter: 'offline',
      page: next,
    });
    expect(rowsAfter(shown, { filter: 'online', after: '2', page: next, patches: [] }).page.rows).toEqual([1, 2, 3]);
  });

  it('stay while the hub does not answer about the same filter', () => {
    expect(rowsAfter(shown, { filter: 'online', after: null, page: undefined, patches: [] })).toBe(shown);
  });

  it('do not stay where the hub does not answer about another filter', () => {
    const failed = { filter: 'offline', after: null, page: undefined, patches: [] };
    expect(rowsAfter(shown, failed)).toEqual({ filter: 'offline', page: noRows });
  });
});

describe('rows that arrive over a list', () => {
  const page = { rows: [3, 2, 1], endCursor: '1', hasNextPage: true };
  const change = (rows: readonly number[]) => [...(rows.includes(4) ? [] : [4]), ...rows];

  it('are before its rows, and the next page is after them as before', () => {
    expect(changedPage(page, { change, rowsMax: 4 })).toEqual({ ...page, rows: [4, 3, 2, 1] });
  });

  it('cut off the oldest, after which no page can follow without a gap', () => {
    expect(changedPage(page, { change, rowsMax: 3 })).toEqual({ rows: [4, 3, 2], endCursor: null, hasNextPage: false });
  });

  it('cut off those after which a page was asked for: it has no effect', () => {
    const shown = { filter: 'online', page: changedPage(page, { change, rowsMax: 3 }) };
    const next = { rows: [0], endCursor: '0', hasNextPage: true };
    expect(rowsAfter(shown, { filter: 'online', after: '1', page: next, patches: [] })).toBe(shown);
  });

  it('stay where they arrived during a read that began before them', () => {
    const patches = withPatch<number>([], { change, rowsMax: 4 });
    const shown = { filter: 'online', page: changedPage(page, { change, rowsMax: 4 }) };
    const answer = { filter: 'online', after: null, patches };
    expect(rowsAfter(shown, { ...answer, page }).page.rows).toEqual([4, 3, 2, 1]);
    const later = { ...page, rows: [5, 4, 3] };
    expect(rowsAfter(shown, { ...answer, page: later }).page.rows).toEqual([5, 4, 3]);
  });

  it('stay with their limit, and the latest of very many', () => {
    const many = Array.from({ length: 1_001 }, (_, row) => ({ change: () => [row], rowsMax: 1 }));
    const patches = many.reduce<readonly RowsPatch<number>[]>(withPatch, []);
    expect(patches).toHaveLength(1_000);
    const shown = { filter: 'online', page };
    expect(rowsAfter(shown, { filter: 'online', after: null, page, patches }).page.rows).toEqual([1_000]);
  });
});
