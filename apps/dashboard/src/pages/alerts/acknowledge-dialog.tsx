/**
 * Acknowledges an alert, with a note. It belongs to the page and not to the card, which leaves the
 * list when the alert resolves.
 */
import { useState } from 'react';
import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { AcknowledgeAlertDocument } from './generated/alerts';

interface AcknowledgeDialogProps {
  /** Undefined: closed. */
  readonly id: string | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function AcknowledgeDialog({ id, onClose, onDone }: AcknowledgeDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog isOpen={id !== undefined} onClose={onClose} title={t('alerts.acknowledgeTitle')}>
      {id !== undefined && <AcknowledgeForm key={id} id={id} onClose={onClose} onDone={onDone} />}
    </Dialog>
  );
}

interface AcknowledgeFormProps extends AcknowledgeDialogProps {
  readonly id: string;
}

function AcknowledgeForm({ id, onClose, onDone }: AcknowledgeFormProps) {
  const { t } = useTranslation();
  const [note, setNote] = useState('');
  const act = useHubMutation(AcknowledgeAlertDocument, (data) => data.acknowledgeAlert.userErrors);
  const submit = async () => {
    if (!(await act.run({ id, note: note.trim() === '' ? null : note.trim() }))) return;
    onClose();
    onDone();
  };
  return (
    <DialogForm action={t('alerts.acknowledge')} onSubmit={submit} onCancel={onClose} mutations={[act]}>
      <TextInput
        label={t('alerts.note')}
        description={t('alerts.noteHint')}
        value={note}
        maxLength={1_000}
        onChange={(event) => setNote(event.currentTarget.value)}
        data-autofocus
      />
    </DialogForm>
  );
}
