/** The public keys whose signatures over images the hub accepts. Admins add and remove them. */
import { useMemo, useState } from 'react';
import { Button, Textarea, TextInput } from '@mantine/core';
import { IconSignature } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../../parts/act-button';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useHubQuery } from '../../hub/use-hub-query';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { ReadFailure } from '../../parts/failure';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import {
  AddSigningKeyDocument,
  RemoveSigningKeyDocument,
  SigningKeysDocument,
  type SigningKeysQuery,
} from './generated/firmware';

type Key = SigningKeysQuery['firmwareSigningKeys'][number];

export function SigningKeys({ onChanged }: { readonly onChanged: () => void }) {
  const { t } = useTranslation();
  const isAdmin = useScope('ADMIN');
  const read = useHubQuery({ query: SigningKeysDocument, variables: {} });
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Key>();
  const remove = useHubMutation(RemoveSigningKeyDocument, (data) => data.removeFirmwareSigningKey.userErrors);
  const columns = useColumns(isAdmin ? setRemoved : undefined);
  const keys = read.data?.firmwareSigningKeys ?? [];
  const changed = () => {
    read.refresh();
    onChanged();
  };
  if (!isAdmin && keys.length === 0 && !read.error) return null;
  return (
    <Section
      title={t('firmware.signing.title')}
      actions={
        isAdmin && (
          <ActButton size="xs" icon={IconSignature} onClick={() => setAdding(true)}>
            {t('firmware.signing.add')}
          </ActButton>
        )
      }
    >
      <ReadFailure read={read} />
      {read.data?.firmwareSigningKeys.length === 0 && <p className="soft">{t('firmware.signing.empty')}</p>}
      {keys.length > 0 && (
        <DataTable
          label={t('firmware.signing.title')}
          columns={columns}
          rows={keys}
          rowKey={({ id }) => id}
          maxHeight="260px"
        />
      )}
      {isAdding && <AddKey onClose={() => setAdding(false)} onAdded={changed} />}
      <ConfirmMutation
        mutation={remove}
        variables={removed && { id: removed.id }}
        title={t('firmware.signing.removeTitle', { name: removed?.name ?? '' })}
        text={t('firmware.signing.removeText')}
        act={t('firmware.signing.remove')}
        keep={t('keep.key')}
        onClose={() => setRemoved(undefined)}
        onDone={changed}
      />
    </Section>
  );
}

function useColumns(onRemove: ((key: Key) => void) | undefined): readonly Column<Key>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      { id: 'name', header: t('firmware.signing.name'), width: 130, cell: ({ name }) => name },
      {
        id: 'fingerprint',
        header: t('firmware.signing.fingerprint'),
        width: 200,
        grow: 2,
        cell: ({ fingerprint }) => <code title={fingerprint}>{fingerprint}</code>,
      },
      {
        id: 'added',
        header: t('firmware.signing.added'),
        width: 110,
        grow: 0,
        cell: ({ createdAt }) => <Time at={createdAt} />,
      },
      ...(onRemove === undefined ? [] : [removeColumn(t('firmware.signing.remove'), onRemove)]),
    ],
    [t, onRemove],
  );
}

function removeColumn(label: string, onRemove: (key: Key) => void): Column<Key> {
  return {
    id: 'remove',
    header: '',
    width: 90,
    grow: 0,
    isStuck: true,
    cell: (key) => (
      <Button size="compact-xs" variant="default" onClick={() => onRemove(key)}>
        {label}
      </Button>
    ),
  };
}

function AddKey({ onClose, onAdded }: { readonly onClose: () => void; readonly onAdded: () => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const act = useHubMutation(AddSigningKeyDocument, (data) => data.addFirmwareSigningKey.userErrors);
  const add = async () => {
    if (!(await act.run({ input: { name: name.trim(), publicKey } }))) return;
    onAdded();
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={t('firmware.signing.add')}>
      <DialogForm action={t('firmware.signing.add')} onSubmit={add} onCancel={onClose} mutations={[act]}>
        <TextInput
          label={t('firmware.signing.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          data-autofocus
        />
        <Textarea
          label={t('firmware.signing.publicKey')}
          description={t('firmware.signing.publicKeyHint')}
          value={publicKey}
          onChange={(event) => setPublicKey(event.currentTarget.value)}
          autosize
          minRows={3}
          required
        />
      </DialogForm>
    </Dialog>
  );
}
