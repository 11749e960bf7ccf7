/** The form inside a dialog: fields, the failure notice, and the buttons that cancel and submit. */
import type { ReactNode } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../failure';
import { useHeldDialog } from './dialog';
import { useHold } from './hold';

interface DialogFormProps {
  /** The text of the submit button. */
  readonly action: string;
  /** What stays as it is without the action; "Close without saving" if it says nothing more. */
  readonly keep?: string;
  readonly onSubmit: () => Promise<void>;
  readonly onCancel: () => void;
  /** The mutations that the form may run. Their first failure is shown. */
  readonly mutations: readonly Pick<HubMutation<never, never>, 'failure' | 'isBusy'>[];
  readonly isDisabled?: boolean;
  /** Of the submit button. */
  readonly color?: string;
  readonly children: ReactNode;
}

export function DialogForm({
  action,
  keep,
  onSubmit,
  onCancel,
  mutations,
  isDisabled = false,
  color,
  children,
}: DialogFormProps) {
  const { t } = useTranslation();
  const isBusy = mutations.some((mutation) => mutation.isBusy);
  useHeldDialog(isBusy);
  const isHeld = useHold(isBusy);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        // A form in a popover of this one submits itself only.
        if (event.target === event.currentTarget) void onSubmit();
      }}
    >
      <Stack>
        {children}
        <MutationFailureNotice failure={mutations.find(({ failure }) => failure)?.failure} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel} disabled={isHeld}>
            {keep ?? t('keep.unsaved')}
          </Button>
          <Button type="submit" {...(color && { color })} loading={isBusy} disabled={isDisabled}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
