/** People who sign in with e-mail and password or by an identity provider. */
import { useState } from 'react';
import { Button, Checkbox, PasswordInput, Select, TextInput } from '@mantine/core';
import { IconUserPlus, IconUsers } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { useNotify } from '../../parts/use-notify';
import { type AccessQuery, CreateUserDocument, type Role, UpdateUserDocument } from './generated/access';

type User = AccessQuery['users'][number];

const roles: readonly Role[] = ['VIEWER', 'OPERATOR', 'FIRMWARE', 'ADMIN'];
/** Of a password; the hub refuses shorter ones. */
const passwordLengthMin = 12;

export interface PeopleProps {
  readonly users: readonly User[];
  readonly onChanged: () => void;
}

export function People({ users, onChanged }: PeopleProps) {
  const { t } = useTranslation();
  const [edited, setEdited] = useState<User | 'new'>();
  const none = t('common.none');
  const columns: readonly Column<User>[] = [
    { id: 'name', header: t('access.name'), width: 140, cell: ({ name }) => name },
    { id: 'email', header: t('access.email'), width: 190, grow: 1.5, cell: ({ email }) => email ?? none },
    { id: 'role', header: t('access.role'), width: 100, grow: 0, cell: ({ role }) => t(`access.roles.${role}`) },
    {
      id: 'signedIn',
      header: t('access.lastSignIn'),
      ...{ width: 120, grow: 0 },
      cell: ({ lastSignInAt }) => <Time at={lastSignInAt} />,
    },
    {
      id: 'state',
      header: t('access.state'),
      ...{ width: 90, grow: 0 },
      cell: ({ disabledAt }) => t(disabledAt === null ? 'access.active' : 'access.disabled'),
    },
    {
      ...{ id: 'edit', header: '' },
      ...{ width: 70, grow: 0 },
      cell: (user) => (
        <Button size="compact-xs" variant="default" onClick={() => setEdited(user)}>
          {t('access.edit')}
        </Button>
      ),
    },
  ];
  return (
    <Section
      title={t('access.people')}
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconUserPlus size={15} aria-hidden />}
          onClick={() => setEdited('new')}
        >
          {t('access.addPerson')}
        </Button>
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
          onSaved={() => {
            setEdited(undefined);
            onChanged();
          }}
        />
      )}
    </Section>
  );
}

interface PersonDialogProps {
  readonly user: User | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function PersonDialog({ user, onClose, onSaved }: PersonDialogProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [name, setName] = useState(user?.name ?? '');
  const [email, setEmail] = useState(user?.email ?? '');
  const [role, setRole] = useState<Role>(user?.role ?? 'OPERATOR');
  const [password, setPassword] = useState('');
  const [isDisabled, setDisabled] = useState(user !== undefined && user.disabledAt !== null);
  const create = useHubMutation(CreateUserDocument, (data) => data.createUser.userErrors);
  const update = useHubMutation(UpdateUserDocument, (data) => data.updateUser.userErrors);
  const save = async () => {
    const input = {
      ...{ name: name.trim(), email: email.trim() || null, role, disabled: isDisabled },
      ...(password !== '' && { password }),
    };
    const done = user ? await update.run({ id: user.id, input }) : await create.run({ input });
    if (!done) return;
    notify(t('access.saved', { name: input.name }));
    onSaved();
  };
  return (
    <Dialog onClose={onClose} title={t(user ? 'access.editPerson' : 'access.addPerson')}>
      <DialogForm action={t('common.save')} onSubmit={save} onCancel={onClose} mutations={[create, update]}>
        <TextInput
          label={t('access.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          data-autofocus
        />
        <TextInput
          type="email"
          label={t('access.email')}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Select
          label={t('access.role')}
          description={t(`access.roleHint.${role}`)}
          data={roles.map((value) => ({ value, label: t(`access.roles.${value}`) }))}
          value={role}
          onChange={(chosen) => setRole(chosen as Role)}
        />
        <PasswordInput
          label={t(user ? 'access.newPassword' : 'access.password')}
          description={t('access.passwordHint', { count: passwordLengthMin })}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          minLength={passwordLengthMin}
          autoComplete="new-password"
        />
        {user && (
          <Checkbox
            label={t('access.disable')}
            checked={isDisabled}
            onChange={(event) => setDisabled(event.currentTarget.checked)}
          />
        )}
      </DialogForm>
    </Dialog>
  );
}
