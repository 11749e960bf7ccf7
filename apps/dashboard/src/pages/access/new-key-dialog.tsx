/** Makes a key and shows its secret, once. */
import { useState } from 'react';
import { scopes } from '@flotilla/client';
import { Checkbox, Select, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { DialogForm } from '../../parts/dialog/dialog-form';
import type { Scope } from '../../hub/session';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { SecretDialog } from '../../parts/dialog/secret-dialog';
import { type DeviceConditions, filterOf } from '../devices/device-search';
import { CreateApiKeyDocument } from './generated/access';
import { KeyDeviceFields } from './key-devices';

/** Days that a key lives; never is one of the choices. */
const lifetimes = ['30', '90', '365', 'never'] as const;
const dayMs = 86_400_000;

interface NewKeyDialogProps {
  readonly onClose: () => void;
  readonly onMade: () => void;
}

export function NewKeyDialog({ onClose, onMade }: NewKeyDialogProps) {
  const { t } = useTranslation();
  return (
    <SecretDialog
      title={t('access.newKey')}
      label={t('access.secret')}
      hint={t('access.secretHint')}
      onClose={onClose}
      form={(onCreated) => (
        <NewKeyForm
          onClose={onClose}
          onMade={(secret) => {
            onCreated(secret);
            onMade();
          }}
        />
      )}
    />
  );
}

interface NewKeyFormProps {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

function NewKeyForm({ onClose, onMade }: NewKeyFormProps) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>(['DEVICES_READ']);
  const [devices, setDevices] = useState<DeviceConditions>();
  const [lifetime, setLifetime] = useState<string>('90');
  const isLimited = devices !== undefined;
  const act = useHubMutation(CreateApiKeyDocument, (data) => data.createApiKey.userErrors);
  const make = async () => {
    const expiresAt = lifetime === 'never' ? null : new Date(Date.now() + Number(lifetime) * dayMs).toISOString();
    const limit = devices && filterOf(devices);
    const input = { name: name.trim(), scopes: chosen as Scope[], expiresAt, ...(limit && { devices: limit }) };
    const data = await act.run({ input });
    if (data) onMade(data.createApiKey.secret ?? '');
  };
  return (
    <DialogForm
      action={t('access.makeKey')}
      onSubmit={make}
      onCancel={onClose}
      mutations={[act]}
      isDisabled={chosen.length === 0 || (isLimited && filterOf(devices) === undefined)}
    >
      <TextInput
        label={t('access.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Checkbox.Group label={t('access.scopes')} value={chosen} onChange={setChosen}>
        <Stack gap={6} mt={4}>
          {scopes.map((scope) => (
            <Checkbox key={scope} size="xs" value={scope} label={t(`access.scope.${scope}`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      <KeyDeviceFields devices={devices} onChange={setDevices} />
      <Select
        label={t('access.expires')}
        data={lifetimes.map((value) => ({
          value,
          label: value === 'never' ? t('access.noExpiry') : t('access.inDays', { count: Number(value) }),
        }))}
        value={lifetime}
        onChange={(value) => setLifetime(value ?? '90')}
      />
    </DialogForm>
  );
}
