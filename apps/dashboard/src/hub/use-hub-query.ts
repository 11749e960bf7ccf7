/**
 * A query that stays current: it runs again after a reconnect and, if requested, at an interval.
 */
import { useCallback, useEffect, useRef } from 'react';
import { type AnyVariables, type CombinedError, type DocumentInput, useQuery } from 'urql';
import { type Answer, keptAnswer } from './kept-answer';
import { readEvery } from './read-again';
import { useHealed } from './use-healed';
import { useVisibleInterval } from './use-visible-interval';

interface HubQuery<Data, Variables extends AnyVariables> {
  readonly query: DocumentInput<Data, Variables>;
  readonly variables: Variables;
  /** Ms between two looks while the page is visible. */
  readonly refreshMs?: number;
  readonly pause?: boolean;
}

export interface HubAnswer<Data> {
  /** The latest there was; stays while the next is asked for, and when that fails. */
  readonly data: Data | undefined;
  readonly error: CombinedError | undefined;
  readonly isLoading: boolean;
  readonly refresh: () => void;
}

export function useHubQuery<Data, Variables extends AnyVariables>(asked: HubQuery<Data, Variables>): HubAnswer<Data> {
  const { query, variables, refreshMs, pause = false } = asked;
  const [{ data, error, fetching, stale, operation }, execute] = useQuery<Data, Variables>({
    query,
    variables,
    pause,
  } as Parameters<typeof useQuery<Data, Variables>>[0]);
  const key = operation?.key;
  // urql drops the data of a read that fails.
  const good = useRef<Answer<Data>>(undefined);
  useEffect(() => {
    if (error === undefined && data) good.current = { key, data };
  }, [key, data, error]);
  const shown = keptAnswer(good.current, { key, data, hasFailed: error !== undefined });
  const isReading = useRef(false);
  const isAskedAgain = useRef(false);
  const refresh = useCallback(() => {
    // The client would abort the read in flight, or join it: then the answer may be older.
    if (isReading.current) isAskedAgain.current = true;
    else if (!pause) execute({ requestPolicy: 'network-only' });
  }, [execute, pause]);
  useEffect(() => {
    isReading.current = !pause && (fetching || stale);
    if (isReading.current || !isAskedAgain.current) return;
    isAskedAgain.current = false;
    refresh();
  }, [pause, fetching, stale, refresh]);
  useHealed(refresh);
  const look = useCallback(() => {
    if (!isReading.current) refresh();
  }, [refresh]);
  useVisibleInterval(look, readEvery(refreshMs, error));
  return { data: shown, error, isLoading: fetching, refresh };
}
