/** Adds an address or changes one. The secret that signs deliveries is shown once. */
import { useState } from 'react';
import { Switch, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { SecretDialog } from '../../parts/dialog/secret-dialog';
import { eventAreas, eventTypes } from '../../parts/events/event-types';
import { CreateWebhookDocument, UpdateWebhookDocument, type WebhooksQuery } from './generated/webhooks';

interface WebhookDialogProps {
  readonly webhook: WebhooksQuery['webhooks'][number] | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const offeredTypes = ['*', ...eventAreas, ...eventTypes];

export function WebhookDialog({ webhook, onClose, onSaved }: WebhookDialogProps) {
  const { t } = useTranslation();
  return (
    <SecretDialog
      title={t(webhook ? 'webhooks.edit' : 'webhooks.add')}
      label={t('webhooks.secret')}
      hint={t('webhooks.secretHint')}
      onClose={onClose}
      form={(onCreated) => <WebhookForm {...{ webhook, onClose, onSaved }} onSecret={onCreated} />}
    />
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
  const save = async () => {
    const input = { url: url.trim(), types, enabled: isEnabled };
    const made = webhook ? undefined : await create.run({ input });
    const saved = webhook ? await update.run({ id: webhook.id, input, revision: webhook.revision }) : made;
    // Also after a refusal: opened again, it shows what another person has saved meanwhile.
    onSaved();
    if (!saved) return;
    if (made) onSecret(made.createWebhook.secret ?? '');
    else onClose();
  };
  return (
    <DialogForm
      action={t('common.save')}
      onSubmit={save}
      onCancel={onClose}
      mutations={[create, update]}
      isDisabled={types.length === 0}
    >
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
        data={offeredTypes}
      />
      <Switch
        label={t('webhooks.enabled')}
        checked={isEnabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </DialogForm>
  );
}
