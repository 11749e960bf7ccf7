/**
 * Asks for confirmation before an action that cannot be undone easily. The button repeats the name
 * of the action.
 */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { MutationFailure } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../failure';
import { Dialog } from './dialog';

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly text: string;
  /** The act, as on the button that led here. */
  readonly act: string;
  readonly isBusy?: boolean;
  readonly failure?: MutationFailure | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ isOpen, title, text, act, isBusy, failure, onConfirm, onClose }: ConfirmProps) {
  const { t } = useTranslation();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <Stack>
        <Text size="sm">{text}</Text>
        <MutationFailureNotice failure={failure} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('common.cancel')}
          </Button>
          <Button color="red" loading={isBusy ?? false} onClick={onConfirm}>
            {act}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
