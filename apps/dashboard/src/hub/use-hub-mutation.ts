/**
 * A mutation and its failure: rejected (nothing was changed) or not answered (the result is
 * unknown).
 */
import { useCallback, useState } from 'react';
import { type AnyVariables, type DocumentInput, useClient } from 'urql';

export interface MutationFailure {
  /** In the hub's words. */
  readonly messages: readonly string[];
  readonly codes: readonly string[];
  /** No answer came: the hub may have done it or not. */
  readonly isUncertain: boolean;
}

export interface HubMutation<Data, Variables> {
  /** The payload, or undefined where `failure` says why not. */
  readonly run: (variables: Variables) => Promise<Data | undefined>;
  readonly isBusy: boolean;
  readonly failure: MutationFailure | undefined;
  readonly reset: () => void;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** `refusals` finds the payload's userErrors. */
export function useHubMutation<Data, Variables extends AnyVariables>(
  mutation: DocumentInput<Data, Variables>,
  refusals: (data: Data) => readonly Refusal[],
): HubMutation<Data, Variables> {
  const client = useClient();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<MutationFailure>();
  const run = async (variables: Variables) => {
    setBusy(true);
    setFailure(undefined);
    const { data, error } = await client.mutation(mutation, variables).toPromise();
    setBusy(false);
    if (error || data === undefined) {
      const refused = error?.graphQLErrors ?? [];
      setFailure({
        messages: refused.map(({ message }) => message),
        codes: refused.map(({ extensions }) => String(extensions['code'])),
        isUncertain: refused.length === 0,
      });
      return undefined;
    }
    const refused = refusals(data);
    if (refused.length === 0) return data;
    setFailure({
      messages: refused.map(({ message }) => message),
      codes: refused.map(({ code }) => code),
      isUncertain: false,
    });
    return undefined;
  };
  const reset = useCallback(() => setFailure(undefined), []);
  return { run, isBusy, failure, reset };
}
