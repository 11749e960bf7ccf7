/** Loads the pages of a list at their cursors. */

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
  /** Null where the hub does not count so far. */
  readonly totalCount?: number | null;
}

/** `page` is missing if the hub did not answer. */
export interface PageAnswer<Row, Failure> {
  readonly page?: Page<Row> | undefined;
  readonly failure?: Failure | undefined;
}

export interface PagesWanted {
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

/** The count of the first page stays. */
export function joinPages<Row>(some: Page<Row> | undefined, next: Page<Row>): Page<Row> {
  return some ? { ...next, rows: [...some.rows, ...next.rows], totalCount: some.totalCount ?? null } : next;
}
