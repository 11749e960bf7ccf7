/**
 * A modal dialog with a title and a labelled close button. A click outside closes it until
 * something is typed or chosen: a slip must not lose that.
 */
import { type MouseEvent, type ReactNode, useEffect, useState } from 'react';
import { Modal, type MantineSize } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useIsSignedIn } from '../../hub/hub';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isOpen?: boolean;
  readonly size?: MantineSize;
  /** Whether a click outside always leaves the dialog open. */
  readonly isSticky?: boolean;
  readonly children: ReactNode;
}

/** What changes a field without an input event: options of a select, steps of a number, pills. */
const choices = '[role=option], form button';

export function Dialog({ title, onClose, isOpen = true, size = 'md', isSticky = false, children }: DialogProps) {
  const { t } = useTranslation();
  // Escape on the sign-in page above it is not about the dialog.
  const isSignedIn = useIsSignedIn();
  const [isChanged, setChanged] = useState(false);
  useEffect(() => setChanged(false), [isOpen]);
  const noteChoice = ({ target }: MouseEvent) => {
    if (target instanceof Element && target.closest(choices) !== null) setChanged(true);
  };
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeOnEscape={isSignedIn}
      closeOnClickOutside={!isSticky && !isChanged}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <div onInput={() => setChanged(true)} onClick={noteChoice}>
        {children}
      </div>
    </Modal>
  );
}
