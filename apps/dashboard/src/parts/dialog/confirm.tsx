/**
 * Asks for confirmation before an action that cannot be undone easily. Both buttons name what they
 * do. It stays open until the answer is there or the connection is lost: its mutation may serve
 * many rows.
 */
import { useState } from 'react';
import { Button, Group, Stack, Text } from '@mantine/core';
import type { MutationFailure } from '../../hub/mutation-failure';
import { MutationFailureNotice } from '../failure';
import { Dialog } from './dialog';
import { useHold } from './hold';

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

export function Confirm({ isOpen, isBusy = false, failure, onConfirm, onClose, ...texts }: ConfirmProps) {
  const isHeld = useHold(isBusy);
  const shown = useFailureSince(isOpen, failure);
  const { title, text, act, keep } = useLastTexts(isOpen, texts);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title} isHeld={isBusy}>
      <Stack>
        <Text size="sm">{text}</Text>
        <MutationFailureNotice failure={shown} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} disabled={isHeld} data-autofocus>
            {keep}
          </Button>
          <Button color="red" loading={isBusy} onClick={onConfirm}>
            {act}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

type Texts = Pick<ConfirmProps, 'title' | 'text' | 'act' | 'keep'>;

/** While the dialog fades out it says the same: what it was about may be gone by then. */
function useLastTexts(isOpen: boolean, texts: Texts): Texts {
  const [last, setLast] = useState(texts);
  const names = ['title', 'text', 'act', 'keep'] as const;
  if (isOpen && names.some((name) => last[name] !== texts[name])) setLast(texts);
  return isOpen ? texts : last;
}

/** The failure, unless it is from before the dialog opened: then it may be about another object. */
function useFailureSince(isOpen: boolean, failure: MutationFailure | undefined): MutationFailure | undefined {
  const [opening, setOpening] = useState<{ isOpen: boolean; former?: MutationFailure | undefined }>({ isOpen });
  if (opening.isOpen !== isOpen) setOpening({ isOpen, former: isOpen ? failure : opening.former });
  return failure === opening.former ? undefined : failure;
}
