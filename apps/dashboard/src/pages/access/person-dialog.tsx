/** Adds a person, or changes the name, address and role of one. */
import { useState } from 'react';
import { Checkbox, PasswordInput, Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { Secret } from '../../parts/dialog/secret';
import { useNotify } from '../../parts/use-notify';
import { CreateUserDocument, type Role, UpdateUserDocument } from './generated/access';
import { newPassword, passwordLengthMin } from './new-password';
import type { User } from './people';
import { personChanges } from './person-changes';

const roles: readonly Role[] = ['VIEWER', 'OPERATOR', 'FIRMWARE', 'ADMIN'];

interface PersonDialogProps {
  /** Undefined: a new person. */
  readonly user: User | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function PersonDialog({ user, onClose, onSaved }: PersonDialogProps) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string>();
  return (
    <Dialog
      onClose={onClose}
      title={t(user ? 'access.editPerson' : 'access.addPerson')}
      isSticky={secret !== undefined}
    >
      {secret === undefined ? (
        <PersonForm
          user={user}
          onClose={onClose}
          onSaved={(password) => {
            onSaved();
            if (password === undefined) onClose();
            else setSecret(password);
          }}
        />
      ) : (
        <Secret label={t('access.password')} hint={t('access.passwordOnce')} value={secret} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface PersonFormProps extends Omit<PersonDialogProps, 'onSaved'> {
  /** With the password, if the console made one. */
  readonly onSaved: (password: string | undefined) => void;
}

function PersonForm({ user, onClose, onSaved }: PersonFormProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [name, setName] = useState(user?.name ?? '');
  const [email, setEmail] = useState(user?.email ?? '');
  const [role, setRole] = useState<Role>(user?.role ?? 'OPERATOR');
  const [typed, setTyped] = useState('');
  const [isExternal, setExternal] = useState(false);
  const create = useHubMutation(CreateUserDocument, (data) => data.createUser.userErrors);
  const update = useHubMutation(UpdateUserDocument, (data) => data.updateUser.userErrors);
  const save = async () => {
    const made = user || isExternal || typed !== '' ? undefined : newPassword();
    const password = isExternal ? undefined : made || typed || undefined;
    const typedIn = { name: name.trim(), email: email.trim() || null, role };
    const done = user
      ? await update.run({ id: user.id, input: personChanges(user, typedIn) })
      : await create.run({ input: { ...typedIn, ...(password !== undefined && { password }) } });
    if (!done) return;
    notify(t('access.saved', { name: typedIn.name }));
    onSaved(made);
  };
  return (
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
        required={!user}
      />
      <Select
        label={t('access.role')}
        description={t(`access.roleHint.${role}`)}
        data={roles.map((value) => ({ value, label: t(`access.roles.${value}`) }))}
        value={role}
        allowDeselect={false}
        onChange={(chosen) => setRole(chosen as Role)}
      />
      {!user && !isExternal && (
        <PasswordInput
          label={t('access.password')}
          description={t('access.passwordMade', { count: passwordLengthMin })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          minLength={passwordLengthMin}
          autoComplete="new-password"
        />
      )}
      {!user && (
        <Checkbox
          label={t('access.external')}
          description={t('access.externalHint')}
          checked={isExternal}
          onChange={(event) => setExternal(event.currentTarget.checked)}
        />
      )}
    </DialogForm>
  );
}
