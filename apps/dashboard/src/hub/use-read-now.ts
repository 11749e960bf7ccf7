/**
 * One read past the cache, before a change that replaces the whole of something: another person may
 * have saved it since the page read it.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { type AnyVariables, type CombinedError, type DocumentInput, useClient } from 'urql';
import { readEvery } from './read-again';
import { useHealed } from './use-healed';
import { useVisibleInterval } from './use-visible-interval';

interface ReadNow<Data, Variables> {
  /** Undefined where `error` says why not. */
  readonly read: (variables: Variables) => Promise<Data | undefined>;
  readonly error: CombinedError | undefined;
}

export function useReadNow<Data, Variables extends AnyVariables>(
  query: DocumentInput<Data, Variables>,
): ReadNow<Data, Variables> {
  const client = useClient();
  const [error, setError] = useState<CombinedError>();
  const read = useCallback(
    async (variables: Variables) => {
      const answer = await client.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
      setError(answer.error);
      return answer.error ? undefined : answer.data;
    },
    [client, query],
  );
  return { read, error };
}

interface FirstRead<Data> {
  readonly data: Data | undefined;
  readonly error: CombinedError | undefined;
  readonly retry: () => void;
}

/**
 * For a form: what is stored when it opens. A cached answer may be older than the page before it,
 * and what is read later must not change what a person edits.
 */
export function useFirstRead<Data, Variables extends AnyVariables>(
  query: DocumentInput<Data, Variables>,
  variables: Variables,
): FirstRead<Data> {
  const { read, error } = useReadNow(query);
  const [data, setData] = useState<Data>();
  const asked = useRef(variables);
  useEffect(() => {
    asked.current = variables;
  }, [variables]);
  const isReading = useRef(false);
  const retry = useCallback(async () => {
    if (isReading.current) return;
    isReading.current = true;
    const answer = await read(asked.current);
    isReading.current = false;
    setData((first) => first ?? answer);
  }, [read]);
  useEffect(() => void retry(), [retry]);
  const onHealed = useCallback(() => {
    if (data === undefined) void retry();
  }, [data, retry]);
  useHealed(onHealed);
  useVisibleInterval(retry, data === undefined ? readEvery(undefined, error) : undefined);
  return { data, error, retry };
}
