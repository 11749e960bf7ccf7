/** Applies changes of a list that arrive by subscription, and has it read again when rows come. */
import { useThrottledCallback } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { type AnyVariables, type DocumentInput, useClient } from 'urql';
import { type ChangedList, gatherChanges, type PatchRows, type RowChange } from './gather-changes';

/** Ms between two reads of a list, however many rows come and leave. */
export const rereadMs = 2_000;

interface LiveList<Data, Variables extends AnyVariables, Row> {
  readonly subscription: DocumentInput<Data, Variables>;
  /** The same object as long as the filter is the same. */
  readonly variables: Variables;
  /** Must be the same function always. */
  readonly changeOf: (data: Data) => RowChange<Row>;
  /** Keep the same function while the order is the same. */
  readonly isMoved: ChangedList<Row>['isMoved'];
  readonly rows: readonly Row[];
  readonly patch: PatchRows<Row>;
  /** Reads the shown rows and their count again. */
  readonly reread: () => void;
}

export function useLiveList<Data, Variables extends AnyVariables, Row extends { readonly id: string }>(
  live: LiveList<Data, Variables, Row>,
): void {
  const { subscription, variables, changeOf, isMoved, rows, patch } = live;
  const client = useClient();
  const shown = useRef(rows);
  useEffect(() => {
    shown.current = rows;
  }, [rows]);
  const onMembership = useThrottledCallback(live.reread, rereadMs);
  useEffect(() => {
    const gathered = gatherChanges<Row>({ shown: () => shown.current, patch, isMoved, onMembership });
    const { unsubscribe } = client.subscription(subscription, variables).subscribe(({ data }) => {
      if (data !== undefined && data !== null) gathered.add(changeOf(data));
    });
    return () => {
      unsubscribe();
      gathered.stop();
    };
  }, [client, subscription, variables, changeOf, isMoved, patch, onMembership]);
}
