/** A list that grows page by page at its keyset cursor, over one filter at a time. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type AnyVariables, type Client, CombinedError, type DocumentInput, useClient } from 'urql';
import { readEvery } from '../read-again';
import { OneRead } from './one-read';
import { useHealed } from '../use-healed';
import { useVisibleInterval } from '../use-visible-interval';
import {
  changedPage,
  loadPages,
  noRows,
  type Page,
  type PageAnswer,
  rowsAfter,
  type RowsPatch,
  type ShownRows,
  withPatch,
} from './load-pages';

export type { Page } from './load-pages';

export interface Pages<Row> {
  readonly rows: readonly Row[];
  /** Whether there was an answer, so that no rows means an empty list. */
  readonly isRead: boolean;
  readonly totalCount: number | null | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: CombinedError | undefined;
  readonly loadMore: () => void;
  /** Asks again for the pages that are shown; they stay until the new ones are there. */
  readonly refresh: () => void;
  /**
   * Changes rows that are shown, for news that came by subscription. Rows after `rowsMax` are cut
   * off, and no page is loaded after them.
   */
  readonly patch: (change: (rows: readonly Row[]) => readonly Row[], rowsMax?: number) => void;
}

export interface PagesOptions<Data, Variables extends AnyVariables, Row> {
  readonly query: DocumentInput<Data, Variables>;
  /**
   * Variables for the page after a cursor. Keep the same function while the filter is the same
   * (useCallback).
   */
  readonly variables: (after: string | null) => Variables;
  /** Must be the same function always. */
  readonly pageOf: (data: Data) => Page<Row>;
  /** Pages are loaded at once until so many rows are there; one page where not given. */
  readonly rowsAtOnce?: number;
  /** Ms between two looks while the page is visible. */
  readonly refreshMs?: number;
}

/** Rows that are asked for again at once. Who has gone further down begins again there. */
const keptRowsMax = 1_000;

/** Reads the first pages at once, and those of another filter after it has changed. */
function useOneRead(load: (after: null, rowsWanted: number) => Promise<void>, rowsAtOnce: number): OneRead<number> {
  const reads = useMemo(() => new OneRead((rowsWanted: number) => load(null, rowsWanted)), [load]);
  useEffect(() => {
    reads.ask(rowsAtOnce);
    return () => reads.stop();
  }, [reads, rowsAtOnce]);
  return reads;
}

/** A page after a cursor. An answer that the page cannot read is a failure like any other. */
async function askPage<Data, Variables extends AnyVariables, Row>(
  client: Client,
  { query, variables, pageOf }: PagesOptions<Data, Variables, Row>,
  after: string | null,
): Promise<PageAnswer<Row, CombinedError>> {
  try {
    const { data, error } = await client.query(query, variables(after), { requestPolicy: 'network-only' }).toPromise();
    // An answer that is only errors has null.
    return { page: data ? pageOf(data) : undefined, failure: error };
  } catch (cause) {
    return { failure: new CombinedError({ graphQLErrors: [String(cause)] }) };
  }
}

export function usePages<Data, Variables extends AnyVariables, Row>(
  options: PagesOptions<Data, Variables, Row>,
): Pages<Row> {
  const { query, variables, pageOf, rowsAtOnce = 0, refreshMs } = options;
  const client = useClient();
  const [shown, setShown] = useState<ShownRows<Row, typeof variables>>({ filter: undefined, page: noRows });
  const { page } = shown;
  const [error, setError] = useState<CombinedError>();
  const [isLoading, setLoading] = useState(true);
  /** Answers of an earlier filter have no effect. */
  const turn = useRef(0);
  const isAsking = useRef(false);
  const patches = useRef<readonly RowsPatch<Row>[]>([]);
  const rowsShown = useRef(0);

  /**
   * Loads pages after a cursor until enough rows are there. Without a cursor they replace the shown
   * rows.
   */
  const load = useCallback(
    async (after: string | null, rowsWanted: number) => {
      const mine = after === null ? ++turn.current : turn.current;
      isAsking.current = true;
      patches.current = [];
      setLoading(true);
      const ask = (cursor: string | null) => askPage(client, { query, variables, pageOf }, cursor);
      const loaded = await loadPages(ask, { after, rowsWanted, isCurrent: () => mine === turn.current });
      if (loaded === undefined) return;
      isAsking.current = false;
      setLoading(false);
      setError(loaded.failure);
      const answer = { filter: variables, after, page: loaded.page, patches: patches.current };
      setShown((former) => rowsAfter(former, answer));
    },
    [client, query, variables, pageOf],
  );
  const reads = useOneRead(load, rowsAtOnce);
  const refresh = useCallback(
    // Keeps the scroll position of a viewer who has scrolled down.
    () => reads.ask(Math.max(rowsAtOnce, Math.min(rowsShown.current, keptRowsMax))),
    [reads, rowsAtOnce],
  );
  // A look brings no news: it must not end the load of a further page.
  const look = useCallback(() => {
    if (!isAsking.current) refresh();
  }, [refresh]);
  useHealed(refresh);
  useVisibleInterval(look, readEvery(refreshMs, error));
  useEffect(() => {
    rowsShown.current = page.rows.length;
  }, [page]);
  const loadMore = useCallback(() => {
    if (!isAsking.current && page.hasNextPage) void load(page.endCursor, 0);
  }, [load, page]);
  const patch = useCallback<Pages<Row>['patch']>((change, rowsMax = Infinity) => {
    if (isAsking.current) patches.current = withPatch(patches.current, { change, rowsMax });
    setShown((former) => ({ ...former, page: changedPage(former.page, { change, rowsMax }) }));
  }, []);
  const { rows, totalCount, hasNextPage: hasMore } = page;
  return { rows, isRead: page !== noRows, totalCount, hasMore, isLoading, error, loadMore, refresh, patch };
}
