/** Adds an address or changes one. The secret that signs deliveries is shown once. */
import { type FormEvent, useState } from 'react';
import { Button, Group, Modal, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { Secret } from '../../parts/dialog/secret';
import { CreateWebhookDocument, UpdateWebhookDocument, type WebhooksQuery } from './generated/webhooks';

export interface WebhookDialogProps {
  readonly webhook: WebhooksQuery['webhooks'][number] | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Offered while one types; others may be written. */
const knownTypes = [
  '*',
  'device.*',
  'device.connected',
  'device.disconnected',
  'job.*',
  'job.finished',
  'enrolment.requested',
  'upload.received',
  'firmware.*',
];

export function WebhookDialog({ webhook, onClose, onSaved }: WebhookDialogProps) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string>();
  return (
    <Modal
      opened
      onClose={onClose}
      title={t(webhook ? 'webhooks.edit' : 'webhooks.add')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      closeOnClickOutside={false}
    >
      {secret === undefined ? (
        <WebhookForm webhook={webhook} onClose={onClose} onSaved={onSaved} onSecret={setSecret} />
      ) : (
        <Stack>
          <Secret label={t('webhooks.secret')} hint={t('webhooks.secretHint')} value={secret} />
          <Button onClick={onClose}>{t('common.close')}</Button>
        </Stack>
      )}
    </Modal>
  );
}

interface WebhookFormProps extends WebhookDialogProps {
  readonly onSecret: (secret: string) => void;
}

function WebhookForm({ webhook, onClose, onSaved, onSecret }: WebhookFormProps) {
  const { t } = useTranslation();
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [types, setTypes] = useState<string[]>([...(webhook?.types ?? ['device.*', 'job.*'])]);
  // One that the hub has paused is enabled again by saving it.
  const [isEnabled, setEnabled] = useState(webhook?.enabled ?? true);
  const create = useHubMutation(CreateWebhookDocument, (data) => data.createWebhook.userErrors);
  const update = useHubMutation(UpdateWebhookDocument, (data) => data.updateWebhook.userErrors);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const input = { url: url.trim(), types, enabled: isEnabled };
    const made = webhook ? undefined : await create.run({ input });
    if (!(webhook ? await update.run({ id: webhook.id, input }) : made)) return;
    onSaved();
    if (made) onSecret(made.createWebhook.secret ?? '');
    else onClose();
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack>
        <TextInput
          type="url"
          label={t('webhooks.url')}
          placeholder={t('webhooks.urlExample')}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          required
          data-autofocus
        />
        <TagsInput
          label={t('webhooks.types')}
          description={t('webhooks.typesHint')}
          value={types}
          onChange={setTypes}
          acceptValueOnBlur
          data={knownTypes}
        />
        <Switch
          label={t('webhooks.enabled')}
          checked={isEnabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        <MutationFailureNotice failure={create.failure ?? update.failure} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={create.isBusy || update.isBusy} disabled={types.length === 0}>
            {t('common.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
