/** Asks for confirmation, runs a mutation, and closes when the hub has accepted it. */
import type { HubMutation } from '../../hub/use-hub-mutation';
import { Confirm, type ConfirmProps } from './confirm';

interface ConfirmMutationProps<Data, Variables> extends Pick<
  ConfirmProps,
  'title' | 'text' | 'act' | 'keep' | 'onClose'
> {
  readonly mutation: HubMutation<Data, Variables>;
  /** Undefined: the dialog is closed. */
  readonly variables: Variables | undefined;
  /** Called after the dialog is closed. */
  readonly onDone: (data: Data) => void;
}

export function ConfirmMutation<Data, Variables>({
  mutation,
  variables,
  onDone,
  ...texts
}: ConfirmMutationProps<Data, Variables>) {
  const confirm = async () => {
    const data = variables === undefined ? undefined : await mutation.run(variables);
    if (!data) return;
    texts.onClose();
    onDone(data);
  };
  return (
    <Confirm
      {...texts}
      isOpen={variables !== undefined}
      isBusy={mutation.isBusy}
      failure={mutation.failure}
      onConfirm={() => void confirm()}
    />
  );
}
