/**
 * A modal dialog with a title and a labelled close button. A click outside closes it until
 * something is typed: a slip must not lose that.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { Modal, type MantineSize } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isOpen?: boolean;
  readonly size?: MantineSize;
  /** Whether a click outside always leaves the dialog open. */
  readonly isSticky?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, isOpen = true, size = 'md', isSticky = false, children }: DialogProps) {
  const { t } = useTranslation();
  const [isTyped, setTyped] = useState(false);
  useEffect(() => setTyped(false), [isOpen]);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={!isSticky && !isTyped}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <div onInput={() => setTyped(true)}>{children}</div>
    </Modal>
  );
}
