/**
 * A modal dialog with a title and a labelled close button. Escape and a click outside close it
 * until something is typed or chosen in its form: a slip must not lose that.
 */
import { createContext, type ReactNode, type SyntheticEvent, useContext, useEffect, useState } from 'react';
import { Modal, type MantineSize } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useIsSignedIn } from '../../hub/hub';
import { useHold } from './hold';
import { useReturnedFocus } from './use-returned-focus';

interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isOpen?: boolean;
  readonly size?: MantineSize;
  /** Whether only its buttons close it, because it shows a secret that is not shown again. */
  readonly isSticky?: boolean;
  /**
   * Whether nothing closes it, because an answer that is on its way must be seen. A lost connection
   * ends that.
   */
  readonly isHeld?: boolean;
  readonly children: ReactNode;
}

const HoldContext = createContext<(isHeld: boolean) => void>(() => undefined);

/** What changes a field without an input event: options of a select, steps of a number, pills. */
const choices = '[role=option], form button:not([type=submit])';
const numbers = 'form .mantine-NumberInput-input';
/** The same by keyboard, with the fields that these keys change. */
const choiceKeys: Readonly<Partial<Record<string, string>>> = {
  ArrowUp: numbers,
  ArrowDown: numbers,
  Backspace: 'form [class*=-pillsList]:has(.mantine-Pill-root)',
};

export function Dialog(props: DialogProps) {
  const { title, onClose, isOpen = true, size = 'md', isSticky = false, children } = props;
  const { t } = useTranslation();
  // Escape on the sign-in page above it is not about the dialog.
  const isSignedIn = useIsSignedIn();
  useReturnedFocus(isOpen);
  const [isChanged, setChanged] = useState(false);
  useEffect(() => setChanged(false), [isOpen]);
  const noteChange = ({ target }: SyntheticEvent, within: string | undefined) => {
    if (within !== undefined && target instanceof Element && target.closest(within) !== null) setChanged(true);
  };
  const [isHeldByForm, setHeldByForm] = useState(false);
  const isHeld = useHold(props.isHeld === true || isHeldByForm);
  const isClosedBySlip = !isSticky && !isHeld && !isChanged;
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeOnEscape={isSignedIn && isClosedBySlip}
      closeOnClickOutside={isClosedBySlip}
      closeButtonProps={{ 'aria-label': t('common.close'), disabled: isHeld }}
    >
      <div
        onInput={(event) => noteChange(event, 'form')}
        onClick={(event) => noteChange(event, choices)}
        onKeyDown={(event) => noteChange(event, choiceKeys[event.key])}
        // What was sent may be answered with a secret.
        onSubmit={() => setChanged(true)}
      >
        <HoldContext value={setHeldByForm}>{children}</HoldContext>
      </div>
    </Modal>
  );
}

/** For forms: holds the dialog around them while an answer is on its way. */
export function useHeldDialog(isHeld: boolean): void {
  const hold = useContext(HoldContext);
  useEffect(() => {
    hold(isHeld);
    return () => hold(false);
  }, [hold, isHeld]);
}
