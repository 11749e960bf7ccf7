/** Keys of programs: made with scopes, shown once, revoked at once. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ActButton } from '../../parts/act-button';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { type AccessQuery, RevokeApiKeyDocument } from './generated/access';
import { KeyDevices } from './key-devices';
import { NewKeyDialog } from './new-key-dialog';

type Key = AccessQuery['apiKeys'][number];

interface KeysProps {
  readonly keys: readonly Key[];
  readonly onChanged: () => void;
}

export function Keys({ keys, onChanged }: KeysProps) {
  const { t } = useTranslation();
  const [isNew, setNew] = useState(false);
  const [revoked, setRevoked] = useState<Key>();
  const revoke = useHubMutation(RevokeApiKeyDocument, (data) => data.revokeApiKey.userErrors);
  const columns = useColumns(setRevoked);
  const live = keys.filter(({ revokedAt }) => revokedAt === null);
  return (
    <Section
      title={t('access.keys')}
      actions={
        <ActButton size="xs" icon={IconKey} onClick={() => setNew(true)}>
          {t('access.newKey')}
        </ActButton>
      }
    >
      {live.length === 0 ? (
        <Empty icon={IconKey} title={t('access.noKeys')} />
      ) : (
        <DataTable label={t('access.keys')} columns={columns} rows={live} rowKey={({ id }) => id} maxHeight="420px" />
      )}
      {isNew && <NewKeyDialog onClose={() => setNew(false)} onMade={onChanged} />}
      <ConfirmMutation
        mutation={revoke}
        variables={revoked && { id: revoked.id }}
        title={t('access.revokeTitle', { name: revoked?.name ?? '' })}
        text={t('access.revokeText')}
        act={t('access.revoke')}
        keep={t('keep.key')}
        onClose={() => setRevoked(undefined)}
        onDone={onChanged}
      />
    </Section>
  );
}

function useColumns(onRevoke: (key: Key) => void): readonly Column<Key>[] {
  const { t } = useTranslation();
  return [
    { id: 'name', header: t('access.name'), width: 120, cell: ({ name }) => name },
    { id: 'prefix', header: t('access.prefix'), width: 88, grow: 0, cell: ({ prefix }) => <code>{prefix}…</code> },
    {
      id: 'scopes',
      header: t('access.scopes'),
      width: 140,
      grow: 2,
      cell: ({ scopes }) => <ScopeList scopes={scopes} />,
    },
    {
      id: 'devices',
      header: t('access.devices'),
      width: 160,
      cell: ({ devices }) => <KeyDevices filter={devices} />,
    },
    {
      id: 'used',
      header: t('access.lastUsed'),
      width: 104,
      grow: 0,
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
    },
    {
      id: 'expires',
      header: t('access.expires'),
      width: 96,
      grow: 0,
      cell: ({ expiresAt }) => (expiresAt === null ? t('access.noExpiry') : <Time at={expiresAt} />),
    },
    {
      id: 'revoke',
      header: '',
      width: 72,
      grow: 0,
      isStuck: true,
      cell: (key) => (
        <Button size="compact-xs" variant="default" onClick={() => onRevoke(key)}>
          {t('access.revoke')}
        </Button>
      ),
    },
  ];
}

function ScopeList({ scopes }: Pick<Key, 'scopes'>) {
  return <code>{scopes.join(' ')}</code>;
}
