/**
 * Collects changes of visible rows from a subscription and applies them in batches, to limit
 * redraws.
 */
import { useEffect } from 'react';
import { type AnyVariables, type DocumentInput, useClient } from 'urql';

/** Ms that changes are gathered. */
const gatherMs = 400;

export interface LiveRows<Data, Variables extends AnyVariables, Row> {
  readonly subscription: DocumentInput<Data, Variables>;
  /** The same object as long as the filter is the same. */
  readonly variables: Variables;
  /** Must be the same function always. */
  readonly rowOf: (data: Data) => Row;
  readonly patch: (change: (rows: readonly Row[]) => readonly Row[]) => void;
}

/** Rows are known by their id; what is not shown stays so. */
export function useLiveRows<Data, Variables extends AnyVariables, Row extends { readonly id: string }>(
  live: LiveRows<Data, Variables, Row>,
): void {
  const { subscription, variables, rowOf, patch } = live;
  const client = useClient();
  useEffect(() => {
    const changed = new Map<string, Row>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const news = new Map(changed);
      changed.clear();
      patch((rows) => (rows.some(({ id }) => news.has(id)) ? rows.map((row) => news.get(row.id) ?? row) : rows));
    };
    const { unsubscribe } = client.subscription(subscription, variables).subscribe(({ data }) => {
      if (data === undefined || data === null) return;
      const row = rowOf(data);
      changed.set(row.id, row);
      timer ??= setTimeout(flush, gatherMs);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [client, subscription, variables, rowOf, patch]);
}
