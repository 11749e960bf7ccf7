/** Asks before something that is not easily taken back. The words say what will happen; the button repeats the act. */
import type { ReactNode } from 'react';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly text: string;
  /** The act, as on the button that led here. */
  readonly act: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** What besides: a failure, a field. */
  readonly children?: ReactNode;
}

export function Confirm({ isOpen, title, text, act, isBusy, onConfirm, onClose, children }: ConfirmProps) {
  const { t } = useTranslation();
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack>
        <Text size="sm">{text}</Text>
        {children}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('common.cancel')}
          </Button>
          <Button color="red" loading={isBusy ?? false} onClick={onConfirm}>
            {act}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
