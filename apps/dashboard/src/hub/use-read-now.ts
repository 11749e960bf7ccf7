/**
 * One read past the cache, before a change that replaces the whole of something: another person may
 * have saved it since the page read it.
 */
import { useEffect, useState } from 'react';
import { type AnyVariables, type CombinedError, type DocumentInput, useClient } from 'urql';
import { useConnection } from './hub';
import { readEvery } from './read-again';
import { useVisibleInterval } from './use-visible-interval';

export interface ReadNow<Data, Variables> {
  /** Undefined where `error` says why not. */
  readonly read: (variables: Variables) => Promise<Data | undefined>;
  readonly error: CombinedError | undefined;
}

export function useReadNow<Data, Variables extends AnyVariables>(
  query: DocumentInput<Data, Variables>,
): ReadNow<Data, Variables> {
  const client = useClient();
  const [error, setError] = useState<CombinedError>();
  const read = async (variables: Variables) => {
    const answer = await client.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
    setError(answer.error);
    return answer.error ? undefined : answer.data;
  };
  return { read, error };
}

export interface FirstRead<Data> {
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
  const { healed } = useConnection();
  const retry = () => void read(variables).then((answer) => setData((first) => first ?? answer));
  useEffect(() => {
    if (data === undefined) retry();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, and again after an outage
  }, [healed]);
  useVisibleInterval(retry, data === undefined ? readEvery(undefined, error) : undefined);
  return { data, error, retry };
}
