/**
 * Asks for confirmation before an action that cannot be undone easily. Both buttons name what they
 * do.
 */
import { useState } from 'react';
import { Button, Group, Stack, Text } from '@mantine/core';
import type { MutationFailure } from '../../hub/mutation-failure';
import { MutationFailureNotice } from '../failure';
import { Dialog } from './dialog';

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly text: string;
  /** The act, as on the button that led here. */
  readonly act: string;
  /** What stays as it is without the act, such as "Keep running". */
  readonly keep: string;
  readonly isBusy?: boolean;
  readonly failure?: MutationFailure | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ isOpen, title, text, act, keep, isBusy, failure, onConfirm, onClose }: ConfirmProps) {
  const shown = useFailureSince(isOpen, failure);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <Stack>
        <Text size="sm">{text}</Text>
        <MutationFailureNotice failure={shown} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {keep}
          </Button>
          <Button color="red" loading={isBusy ?? false} onClick={onConfirm}>
            {act}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** The failure, unless it is from before the dialog opened: then it may be about another object. */
function useFailureSince(isOpen: boolean, failure: MutationFailure | undefined): MutationFailure | undefined {
  const [opening, setOpening] = useState<{ isOpen: boolean; former?: MutationFailure | undefined }>({ isOpen });
  if (opening.isOpen !== isOpen) setOpening({ isOpen, former: isOpen ? failure : opening.former });
  return failure === opening.former ? undefined : failure;
}
