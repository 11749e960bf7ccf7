/** Applies changes of visible rows that arrive by subscription. */
import { useEffect } from 'react';
import { type AnyVariables, type DocumentInput, useClient } from 'urql';
import { gatherRows, type PatchRows } from './gather-rows';

export interface LiveRows<Data, Variables extends AnyVariables, Row> {
  readonly subscription: DocumentInput<Data, Variables>;
  /** The same object as long as the filter is the same. */
  readonly variables: Variables;
  /** Must be the same function always. */
  readonly rowOf: (data: Data) => Row;
  readonly patch: PatchRows<Row>;
}

export function useLiveRows<Data, Variables extends AnyVariables, Row extends { readonly id: string }>(
  live: LiveRows<Data, Variables, Row>,
): void {
  const { subscription, variables, rowOf, patch } = live;
  const client = useClient();
  useEffect(() => {
    const gathered = gatherRows(patch);
    const { unsubscribe } = client.subscription(subscription, variables).subscribe(({ data }) => {
      if (data !== undefined && data !== null) gathered.add(rowOf(data));
    });
    return () => {
      unsubscribe();
      gathered.stop();
    };
  }, [client, subscription, variables, rowOf, patch]);
}
