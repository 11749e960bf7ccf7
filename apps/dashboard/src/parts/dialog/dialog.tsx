/** A modal dialog with a title and a labelled close button. */
import type { ReactNode } from 'react';
import { Modal, type MantineSize } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isOpen?: boolean;
  readonly size?: MantineSize;
  /** Whether a click outside leaves the dialog open. */
  readonly isSticky?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, isOpen = true, size = 'md', isSticky = false, children }: DialogProps) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={!isSticky}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {children}
    </Modal>
  );
}
