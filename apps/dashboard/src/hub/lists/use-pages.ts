/** A list that grows page by page at its keyset cursor, over one filter at a time. */
import { useCallback, useEffect, useState } from 'react';
import { type AnyVariables, type Client, CombinedError, type DocumentInput, useClient } from 'urql';
import { readEvery } from '../read-again';
import { useHealed } from '../use-healed';
import { useVisibleInterval } from '../use-visible-interval';
import { ListReads, type ListState, nothingRead } from './list-reads';
import { type Listed, noRows, type PageAnswer, pageOf } from './load-pages';

export interface Pages<Row> {
  readonly rows: readonly Row[];
  /** Whether there was an answer, so that no rows means an empty list. */
  readonly isRead: boolean;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: CombinedError | undefined;
  readonly loadMore: () => void;
  /**
   * Asks again for the pages that are shown; they stay until the new ones are there. A further page
   * on its way arrives first.
   */
  readonly refresh: () => void;
  /**
   * Changes rows that are shown, for news that came by subscription. Rows after `rowsMax` are cut
   * off, and no page is loaded after them.
   */
  readonly patch: (change: (rows: readonly Row[]) => readonly Row[], rowsMax?: number) => void;
}

interface PagesOptions<Data, Variables extends AnyVariables, Row> {
  readonly query: DocumentInput<Data, Variables>;
  /**
   * Variables for the page after a cursor. Keep the same function while the filter is the same
   * (useCallback).
   */
  readonly variables: (after: string | null) => Variables;
  /** Must be the same function always. */
  readonly listOf: (data: Data) => Listed<Row> | null | undefined;
  /** Pages are loaded at once until so many rows are there; one page where not given. */
  readonly rowsAtOnce?: number;
  /** Ms between two looks while the page is visible. */
  readonly refreshMs?: number;
}

/** The variables of a list without a filter. */
export function onlyAfter(after: string | null) {
  return { after };
}

/** A page after a cursor. An answer that the page cannot read is a failure like any other. */
async function askPage<Data, Variables extends AnyVariables, Row>(
  client: Client,
  { query, variables, listOf }: PagesOptions<Data, Variables, Row>,
  after: string | null,
): Promise<PageAnswer<Row, CombinedError>> {
  try {
    const { data, error } = await client.query(query, variables(after), { requestPolicy: 'network-only' }).toPromise();
    // An answer that is only errors has null.
    return { page: data ? pageOf(listOf(data)) : undefined, failure: error };
  } catch (cause) {
    return { failure: new CombinedError({ graphQLErrors: [String(cause)] }) };
  }
}

export function usePages<Data, Variables extends AnyVariables, Row>(
  options: PagesOptions<Data, Variables, Row>,
): Pages<Row> {
  const { query, variables, listOf, rowsAtOnce = 0, refreshMs } = options;
  const client = useClient();
  const [{ page, isLoading, failure: error }, show] = useState<ListState<Row, CombinedError>>(nothingRead);
  const [list] = useState(() => new ListReads<Row, CombinedError>(show));
  const ask = useCallback(
    (after: string | null) => askPage(client, { query, variables, listOf }, after),
    [client, query, variables, listOf],
  );
  useEffect(() => {
    list.begin(ask, rowsAtOnce);
    return () => list.end();
  }, [list, ask, rowsAtOnce]);
  const refresh = useCallback(() => list.refresh(), [list]);
  const look = useCallback(() => list.look(), [list]);
  useHealed(refresh);
  useVisibleInterval(look, readEvery(refreshMs, error));
  const loadMore = useCallback(() => {
    if (page.hasNextPage) list.readAfter(page.endCursor);
  }, [list, page]);
  const patch = useCallback<Pages<Row>['patch']>(
    (change, rowsMax = Infinity) => list.patch({ change, rowsMax }),
    [list],
  );
  const { rows, hasNextPage: hasMore } = page;
  return { rows, isRead: page !== noRows, hasMore, isLoading, error, loadMore, refresh, patch };
}
