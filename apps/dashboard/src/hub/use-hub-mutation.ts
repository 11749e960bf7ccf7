/** A mutation and its failure: rejected (nothing was changed), or its result is unknown. */
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { type AnyVariables, type DocumentInput, useClient } from 'urql';
import { giveFocusBack } from './give-focus-back';
import { failureOf, type MutationFailure, type Refusal, refusalOf } from './mutation-failure';

export interface HubMutation<Data, Variables> {
  /** The payload, or undefined where `failure` says why not. */
  readonly run: (variables: Variables) => Promise<Data | undefined>;
  readonly isBusy: boolean;
  readonly failure: MutationFailure | undefined;
  readonly reset: () => void;
}

/** `refusals` finds the payload's userErrors. */
export function useHubMutation<Data, Variables extends AnyVariables>(
  mutation: DocumentInput<Data, Variables>,
  refusals: (data: Data) => readonly Refusal[],
): HubMutation<Data, Variables> {
  const client = useClient();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<MutationFailure>();
  const pressed = useRef<Element | null>(null);
  useLayoutEffect(() => {
    // Browsers take the focus from a button that is disabled while the mutation runs.
    if (!isBusy) giveFocusBack(pressed.current);
    if (!isBusy) pressed.current = null;
  }, [isBusy]);
  const run = async (variables: Variables) => {
    pressed.current = document.activeElement;
    setBusy(true);
    setFailure(undefined);
    const { data, error } = await client.mutation(mutation, variables).toPromise();
    setBusy(false);
    if (error || data === undefined) {
      const errors = error?.graphQLErrors ?? [];
      setFailure(failureOf(errors.map(({ message, extensions }) => ({ message, code: String(extensions['code']) }))));
      return undefined;
    }
    const refused = refusals(data);
    if (refused.length === 0) return data;
    setFailure(refusalOf(refused));
    return undefined;
  };
  const reset = useCallback(() => setFailure(undefined), []);
  return { run, isBusy, failure, reset };
}
