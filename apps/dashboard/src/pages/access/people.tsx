/** People who sign in with e-mail and password or by an identity provider. */
import { useState } from 'react';
import { Button, Group } from '@mantine/core';
import { IconUserPlus, IconUsers } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../../parts/act-button';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import type { AccessQuery } from './generated/access';
import { isLastAdmin } from './last-admin';
import { PersonDialog } from './person-dialog';
import { PersonMenu } from './person-menu';

export type User = AccessQuery['users'][number];

interface PeopleProps {
  readonly users: readonly User[];
  readonly onChanged: () => void;
}

export function People({ users, onChanged }: PeopleProps) {
  const { t } = useTranslation();
  const [edited, setEdited] = useState<User | 'new'>();
  const columns = useColumns(users, setEdited, onChanged);
  return (
    <Section
      title={t('access.people')}
      actions={
        <ActButton size="xs" icon={IconUserPlus} onClick={() => setEdited('new')}>
          {t('access.addPerson')}
        </ActButton>
      }
    >
      {users.length === 0 ? (
        <Empty icon={IconUsers} title={t('access.noPeople')}>
          {t('access.noPeopleHint')}
        </Empty>
      ) : (
        <DataTable
          label={t('access.people')}
          columns={columns}
          rows={users}
          rowKey={({ id }) => id}
          maxHeight="420px"
        />
      )}
      {edited && (
        <PersonDialog
          user={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={onChanged}
        />
      )}
    </Section>
  );
}

function useColumns(
  users: readonly User[],
  onEdit: (user: User) => void,
  onChanged: () => void,
): readonly Column<User>[] {
  const { t } = useTranslation();
  const none = t('common.none');
  return [
    { id: 'name', header: t('access.name'), width: 110, cell: ({ name }) => name },
    { id: 'email', header: t('access.email'), width: 170, grow: 1.5, cell: ({ email }) => email ?? none },
    { id: 'role', header: t('access.role'), width: 100, grow: 0, cell: ({ role }) => t(`access.roles.${role}`) },
    {
      id: 'way',
      header: t('access.signsInWith'),
      width: 110,
      grow: 1,
      cell: (user) => <SignInWays user={user} />,
    },
    {
      id: 'signedIn',
      header: t('access.lastSignIn'),
      width: 110,
      grow: 0,
      cell: ({ lastSignInAt }) => <Time at={lastSignInAt} />,
    },
    {
      id: 'state',
      header: t('access.state'),
      width: 80,
      grow: 0,
      cell: ({ disabledAt }) => t(disabledAt === null ? 'access.active' : 'access.disabled'),
    },
    {
      id: 'edit',
      header: '',
      width: 96,
      grow: 0,
      isStuck: true,
      cell: (user) => (
        <Group gap={6} wrap="nowrap">
          <Button size="compact-xs" variant="default" onClick={() => onEdit(user)}>
            {t('access.edit')}
          </Button>
          <PersonMenu user={user} isLastAdmin={isLastAdmin(user, users)} onChanged={onChanged} />
        </Group>
      ),
    },
  ];
}

function SignInWays({ user: { hasPassword, identityProvider } }: { readonly user: User }) {
  const { t } = useTranslation();
  const ways = [
    ...(hasPassword ? [t('access.password')] : []),
    ...(identityProvider === null ? [] : [t('access.byProvider', { provider: hostOf(identityProvider) })]),
  ];
  return <span title={identityProvider ?? undefined}>{ways.join(t('mark.listed')) || t('access.noSignIn')}</span>;
}

/** An issuer is an https URL; its host is enough in a table. */
function hostOf(issuer: string): string {
  return URL.parse(issuer)?.host ?? issuer;
}
