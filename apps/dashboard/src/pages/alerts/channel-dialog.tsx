/** Adds a channel or changes one. Secrets that are not typed again stay as they are. */
import { useState } from 'react';
import { PasswordInput, Select, Switch, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import {
  type EditedChannelFragment,
  CreateNotificationChannelDocument,
  type NotificationChannelKind,
  UpdateNotificationChannelDocument,
} from './generated/alerts';

interface ChannelDialogProps {
  readonly channel: EditedChannelFragment | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

type Config = Readonly<Record<string, unknown>>;

/** Settings of each kind, in the order of the form. */
const fields = {
  EMAIL: ['to'],
  SLACK: ['url'],
  TELEGRAM: ['token', 'chatId'],
  DINGTALK: ['url', 'secret'],
  FEISHU: ['url', 'secret'],
  WECOM: ['url'],
  WEBHOOK: ['url', 'secret'],
} as const satisfies Readonly<Record<NotificationChannelKind, readonly string[]>>;
const kinds = Object.keys(fields) as NotificationChannelKind[];

export function ChannelDialog({ channel, onClose, onSaved }: ChannelDialogProps) {
  const { t } = useTranslation();
  const [name, setName] = useState(channel?.name ?? '');
  const [kind, setKind] = useState<NotificationChannelKind>(channel?.kind ?? 'EMAIL');
  const [config, setConfig] = useState<Config>((channel?.config as Config | undefined) ?? {});
  const [enabled, setEnabled] = useState(channel?.enabled ?? true);
  const create = useHubMutation(CreateNotificationChannelDocument, (data) => data.createNotificationChannel.userErrors);
  const update = useHubMutation(UpdateNotificationChannelDocument, (data) => data.updateNotificationChannel.userErrors);
  const save = async () => {
    const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== ''));
    const input = { name: name.trim(), kind, config: given, enabled };
    const saved = channel
      ? await update.run({ id: channel.id, input, revision: channel.revision })
      : await create.run({ input });
    // Also after a refusal: opened again, it shows what another person has saved meanwhile.
    onSaved();
    if (saved) onClose();
  };
  const change = (field: string, value: unknown) => setConfig((former) => ({ ...former, [field]: value }));
  return (
    <Dialog isOpen onClose={onClose} title={t(channel ? 'alerts.channel.edit' : 'alerts.channel.add')}>
      <DialogForm action={t('common.save')} onSubmit={save} onCancel={onClose} mutations={[create, update]}>
        <TextInput
          label={t('alerts.channel.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          data-autofocus
        />
        <Select
          label={t('alerts.channel.kind')}
          data={kinds.map((value) => ({ value, label: t(`alerts.channel.kinds.${value}`) }))}
          value={kind}
          allowDeselect={false}
          disabled={channel !== undefined}
          onChange={(next) => {
            setKind(next as NotificationChannelKind);
            setConfig({});
          }}
        />
        {fields[kind].map((field) => (
          <ConfigField key={field} field={field} value={config[field]} onChange={(value) => change(field, value)} />
        ))}
        <Switch
          label={t('alerts.channel.enabled')}
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      </DialogForm>
    </Dialog>
  );
}

interface ConfigFieldProps {
  readonly field: 'to' | 'url' | 'secret' | 'token' | 'chatId';
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function ConfigField({ field, value, onChange }: ConfigFieldProps) {
  const { t } = useTranslation();
  const label = t(`alerts.channel.config.${field}`);
  const text = typeof value === 'string' ? value : '';
  if (field === 'to')
    return (
      <TagsInput
        label={label}
        description={t('alerts.channel.config.toHint')}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={onChange}
        acceptValueOnBlur
      />
    );
  if (field === 'secret' || field === 'token')
    return (
      <PasswordInput
        label={label}
        value={text}
        required={field === 'token'}
        autoComplete="off"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <TextInput label={label} value={text} required onChange={(event) => onChange(event.currentTarget.value)} />;
}
