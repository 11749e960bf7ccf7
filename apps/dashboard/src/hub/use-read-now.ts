/**
 * One read past the cache, before a change that replaces the whole of something: another person may
 * have saved it since the page read it.
 */
import { useState } from 'react';
import { type AnyVariables, type CombinedError, type DocumentInput, useClient } from 'urql';

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
