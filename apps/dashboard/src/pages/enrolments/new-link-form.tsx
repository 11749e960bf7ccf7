/** Makes an enrolment link, whose address the hub says once. */
import { useState } from 'react';
import { Select, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { NumberField } from '../../parts/number/number-field';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { CreateEnrolmentLinkDocument } from './generated/links';

export interface MadeLink {
  readonly id: string;
  /** Null: the hub does not know its public address. */
  readonly url: string | null;
  readonly maxDevices: number;
  /** RFC 3339. */
  readonly expiresAt: string;
}

interface NewLinkFormProps {
  readonly onClose: () => void;
  readonly onMade: (link: MadeLink) => void;
}

/** Devices that a link admits where the field is empty. */
const usualDevices = 50;
/** Days that a link lives. */
const lifetimes = ['1', '7', '30'] as const;
const dayMs = 86_400_000;

export function NewLinkForm({ onClose, onMade }: NewLinkFormProps) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [maxDevices, setMaxDevices] = useState(usualDevices);
  const [lifetime, setLifetime] = useState<string>('7');
  const act = useHubMutation(CreateEnrolmentLinkDocument, (data) => data.createEnrolmentLink.userErrors);
  const make = async () => {
    const expiresAt = new Date(Date.now() + Number(lifetime) * dayMs).toISOString();
    const data = await act.run({ input: { name: name.trim(), tags, maxDevices, expiresAt } });
    const made = data?.createEnrolmentLink;
    if (made?.enrolmentLink) onMade({ ...made.enrolmentLink, url: made.url });
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
      <NumberField
        label={t('enrolments.maxDevices')}
        value={maxDevices}
        min={1}
        fallback={usualDevices}
        onChange={(value = usualDevices) => setMaxDevices(value)}
        w="100%"
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
