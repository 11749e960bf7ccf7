/** Loads the pages of a list at their cursors. */

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
}

/** A page of a list as GraphQL gives it. */
export interface Listed<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

export const noRows: Page<never> = { rows: [], endCursor: null, hasNextPage: false };

/** Without a list, as of a device that was removed, the page is empty. */
export function pageOf<Row>(list: Listed<Row> | null | undefined): Page<Row> {
  const { nodes: rows, pageInfo } = list ?? { nodes: [], pageInfo: noRows };
  return { rows, endCursor: pageInfo.endCursor, hasNextPage: pageInfo.hasNextPage };
}

/** `page` is missing if the hub did not answer. */
export interface PageAnswer<Row, Failure> {
  readonly page?: Page<Row> | undefined;
  readonly failure?: Failure | undefined;
}

interface PagesWanted {
  readonly after: string | null;
  /** Pages are loaded until so many rows are there; at least one page. */
  readonly rowsWanted: number;
  /** False after the filter has changed: the answers have no effect then. */
  readonly isCurrent: () => boolean;
}

/** Undefined if the filter has changed meanwhile. A failure keeps the pages before it. */
export async function loadPages<Row, Failure>(
  ask: (after: string | null) => Promise<PageAnswer<Row, Failure>>,
  { after, rowsWanted, isCurrent }: PagesWanted,
): Promise<PageAnswer<Row, Failure> | undefined> {
  let found: Page<Row> | undefined;
  let failure: Failure | undefined;
  do {
    const answer = await ask(found?.endCursor ?? after);
    if (!isCurrent()) return undefined;
    failure = answer.failure;
    if (answer.page === undefined) break;
    found = joinPages(found, answer.page);
  } while (found.hasNextPage && found.rows.length < rowsWanted);
  return { page: found, failure };
}

/** The rows of a list, and the filter that they are of. */
export interface ShownRows<Row, Filter> {
  readonly filter: Filter | undefined;
  readonly page: Page<Row>;
}

/** Rows after `rowsMax` are cut off. */
export interface RowsPatch<Row> {
  readonly change: (rows: readonly Row[]) => readonly Row[];
  readonly rowsMax: number;
}

/** What changed during a read, at most: a read that takes longer shows the latest changes. */
const patchesMax = 1_000;

export function withPatch<Row>(patches: readonly RowsPatch<Row>[], patch: RowsPatch<Row>): readonly RowsPatch<Row>[] {
  return [...patches, patch].slice(-patchesMax);
}

interface PagesAnswer<Row, Filter> {
  readonly filter: Filter;
  readonly after: string | null;
  /** Missing if the hub did not answer. */
  readonly page: Page<Row> | undefined;
  /** Since the read began; the hub may have read the rows before that. */
  readonly patches: readonly RowsPatch<Row>[];
}

/**
 * Without an answer the rows stay, unless they are of another filter. A page whose
 * cursor was cut off has no effect.
 */
export function rowsAfter<Row, Filter>(
  shown: ShownRows<Row, Filter>,
  { filter, after, page, patches }: PagesAnswer<Row, Filter>,
): ShownRows<Row, Filter> {
  if (page === undefined) return shown.filter === filter ? shown : { filter, page: noRows };
  if (after === null) return { filter, page: patches.reduce(changedPage, page) };
  return after === shown.page.endCursor ? { filter, page: joinPages(shown.page, page) } : shown;
}

/**
 * The first rows of a changed list. If rows are cut off, the cursor is invalid, so no page follows.
 */
export function changedPage<Row>(page: Page<Row>, { change, rowsMax }: RowsPatch<Row>): Page<Row> {
  const rows = change(page.rows);
  if (rows.length <= rowsMax) return { ...page, rows };
  return { ...page, rows: rows.slice(0, rowsMax), endCursor: null, hasNextPage: false };
}

export function joinPages<Row>(some: Page<Row> | undefined, next: Page<Row>): Page<Row> {
  return some ? { ...next, rows: [...some.rows, ...next.rows] } : next;
}
