/** Makes an enrolment link and shows its address, once. */
import { useState } from 'react';
import { NumberInput, Select, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { SecretDialog } from '../../parts/dialog/secret-dialog';
import { CreateEnrolmentLinkDocument } from './generated/links';

export interface NewLinkDialogProps {
  readonly onClose: () => void;
  readonly onMade: () => void;
}

/** Days that a link lives. */
const lifetimes = ['1', '7', '30'] as const;
const dayMs = 86_400_000;

export function NewLinkDialog({ onClose, onMade }: NewLinkDialogProps) {
  const { t } = useTranslation();
  return (
    <SecretDialog
      title={t('enrolments.newLink')}
      label={t('enrolments.linkUrl')}
      hint={t('enrolments.linkUrlHint')}
      onClose={onClose}
      form={(onCreated) => (
        <NewLinkForm
          onClose={onClose}
          onMade={(url) => {
            onCreated(url);
            onMade();
          }}
        />
      )}
    />
  );
}

function NewLinkForm({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (url: string) => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [maxDevices, setMaxDevices] = useState(50);
  const [lifetime, setLifetime] = useState<string>('7');
  const act = useHubMutation(CreateEnrolmentLinkDocument, (data) => data.createEnrolmentLink.userErrors);
  const make = async () => {
    const expiresAt = new Date(Date.now() + Number(lifetime) * dayMs).toISOString();
    const data = await act.run({ input: { name: name.trim(), tags, maxDevices, expiresAt } });
    if (data) onMade(data.createEnrolmentLink.url ?? t('enrolments.noPublicUrl'));
  };
  return (
    <DialogForm action={t('enrolments.makeLink')} onSubmit={make} onCancel={onClose} mutations={[act]}>
      <TextInput
        label={t('enrolments.linkName')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        data-autofocus
      />
      <TagsInput
        label={t('enrolments.tags')}
        placeholder={t('enrolments.tagsHint')}
        value={tags}
        onChange={setTags}
        acceptValueOnBlur
      />
      <NumberInput
        label={t('enrolments.maxDevices')}
        value={maxDevices}
        min={1}
        onChange={(value) => setMaxDevices(Number(value))}
      />
      <Select
        label={t('enrolments.expires')}
        data={lifetimes.map((value) => ({ value, label: t('access.inDays', { count: Number(value) }) }))}
        value={lifetime}
        onChange={(value) => setLifetime(value ?? '7')}
      />
    </DialogForm>
  );
}
