/** Makes an enrolment link and shows its address, once. */
import { type FormEvent, useState } from 'react';
import { Button, Group, Modal, NumberInput, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { Secret } from '../../parts/dialog/secret';
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
  const [url, setUrl] = useState<string>();
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('enrolments.newLink')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      closeOnClickOutside={false}
    >
      {url === undefined ? (
        <NewLinkForm
          onClose={onClose}
          onMade={(made) => {
            setUrl(made);
            onMade();
          }}
        />
      ) : (
        <Stack>
          <Secret label={t('enrolments.linkUrl')} hint={t('enrolments.linkUrlHint')} value={url} />
          <Button onClick={onClose}>{t('common.close')}</Button>
        </Stack>
      )}
    </Modal>
  );
}

function NewLinkForm({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (url: string) => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [maxDevices, setMaxDevices] = useState(50);
  const [lifetime, setLifetime] = useState<string>('7');
  const act = useHubMutation(CreateEnrolmentLinkDocument, (data) => data.createEnrolmentLink.userErrors);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const expiresAt = new Date(Date.now() + Number(lifetime) * dayMs).toISOString();
    const data = await act.run({ input: { name: name.trim(), tags, maxDevices, expiresAt } });
    if (data) onMade(data.createEnrolmentLink.url ?? t('enrolments.noPublicUrl'));
  };
  return (
    <form onSubmit={(event) => void make(event)}>
      <Stack>
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
        <MutationFailureNotice failure={act.failure} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={act.isBusy}>
            {t('enrolments.makeLink')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
