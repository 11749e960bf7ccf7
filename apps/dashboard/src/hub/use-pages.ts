/** A list that grows page by page at its keyset cursor, over one filter at a time. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { type AnyVariables, type CombinedError, type DocumentInput, useClient } from 'urql';
import { useConnection } from './hub';

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
  /** Null where the hub does not count so far. */
  readonly totalCount?: number | null;
}

export interface Pages<Row> {
  readonly rows: readonly Row[];
  readonly totalCount: number | null | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: CombinedError | undefined;
  readonly loadMore: () => void;
  /** Begins again at the first page; what is shown stays until that is there. */
  readonly refresh: () => void;
  /** Changes rows that are shown, for news that came by subscription. */
  readonly patch: (change: (rows: readonly Row[]) => readonly Row[]) => void;
}

export interface PagesOptions<Data, Variables extends AnyVariables, Row> {
  readonly query: DocumentInput<Data, Variables>;
  /** Of the page after this cursor. Must be the same function as long as the filter is the same (useCallback). */
  readonly variables: (after: string | null) => Variables;
  /** Must be the same function always. */
  readonly pageOf: (data: Data) => Page<Row>;
}

export function usePages<Data, Variables extends AnyVariables, Row>(options: PagesOptions<Data, Variables, Row>): Pages<Row> {
  const { query, variables, pageOf } = options;
  const client = useClient();
  const { healed } = useConnection();
  const [page, setPage] = useState<Page<Row>>({ rows: [], endCursor: null, hasNextPage: false });
  const [error, setError] = useState<CombinedError>();
  const [isLoading, setLoading] = useState(true);
  /** Answers of an earlier filter have no effect. */
  const turn = useRef(0);
  const isAsking = useRef(false);

  const load = useCallback(
    async (after: string | null) => {
      const mine = after === null ? ++turn.current : turn.current;
      isAsking.current = true;
      setLoading(true);
      const answer = await client.query(query, variables(after), { requestPolicy: 'network-only' }).toPromise();
      if (mine !== turn.current) return;
      isAsking.current = false;
      setLoading(false);
      setError(answer.error);
      if (answer.data === undefined) return;
      const next = pageOf(answer.data);
      setPage((shown) => (after === null ? next : { ...next, rows: [...shown.rows, ...next.rows], totalCount: shown.totalCount }));
    },
    [client, query, variables, pageOf],
  );
  const refresh = useCallback(() => void load(null), [load]);
  useEffect(refresh, [refresh, healed]);
  const loadMore = useCallback(() => {
    if (!isAsking.current && page.hasNextPage) void load(page.endCursor);
  }, [load, page]);
  const patch = useCallback(
    (change: (rows: readonly Row[]) => readonly Row[]) => setPage((shown) => ({ ...shown, rows: change(shown.rows) })),
    [],
  );
  return { rows: page.rows, totalCount: page.totalCount, hasMore: page.hasNextPage, isLoading, error, loadMore, refresh, patch };
}
