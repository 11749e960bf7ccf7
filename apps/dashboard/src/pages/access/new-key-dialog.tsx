/** Makes a key and shows its secret, once. */
import { type FormEvent, useState } from 'react';
import { scopes } from '@flotilla/client';
import { Button, Checkbox, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Scope } from '../../hub/session';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { Secret } from '../../parts/dialog/secret';
import { CreateApiKeyDocument } from './generated/access';

/** Days that a key lives; never is one of the choices. */
const lifetimes = ['30', '90', '365', 'never'] as const;
const dayMs = 86_400_000;

export interface NewKeyDialogProps {
  readonly onClose: () => void;
  readonly onMade: () => void;
}

export function NewKeyDialog({ onClose, onMade }: NewKeyDialogProps) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string>();
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('access.newKey')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      closeOnClickOutside={false}
    >
      {secret === undefined ? (
        <NewKeyForm
          onClose={onClose}
          onMade={(made) => {
            setSecret(made);
            onMade();
          }}
        />
      ) : (
        <Stack>
          <Secret label={t('access.secret')} hint={t('access.secretHint')} value={secret} />
          <Button onClick={onClose}>{t('common.close')}</Button>
        </Stack>
      )}
    </Modal>
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
  const [lifetime, setLifetime] = useState<string>('90');
  const act = useHubMutation(CreateApiKeyDocument, (data) => data.createApiKey.userErrors);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const expiresAt = lifetime === 'never' ? null : new Date(Date.now() + Number(lifetime) * dayMs).toISOString();
    const data = await act.run({ input: { name: name.trim(), scopes: chosen as Scope[], expiresAt } });
    if (data) onMade(data.createApiKey.secret ?? '');
  };
  return (
    <form onSubmit={(event) => void make(event)}>
      <Stack>
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
        <Select
          label={t('access.expires')}
          data={lifetimes.map((value) => ({
            value,
            label: value === 'never' ? t('common.never') : t('access.inDays', { count: Number(value) }),
          }))}
          value={lifetime}
          onChange={(value) => setLifetime(value ?? '90')}
        />
        <MutationFailureNotice failure={act.failure} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={act.isBusy} disabled={chosen.length === 0}>
            {t('access.makeKey')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
