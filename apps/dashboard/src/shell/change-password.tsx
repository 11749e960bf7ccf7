/** Changes a person's own password. The new one is typed twice, because it is hidden. */
import { useState } from 'react';
import { PasswordInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../parts/dialog/dialog';
import { DialogForm } from '../parts/dialog/dialog-form';
import { useViewer } from '../hub/hub';
import { useHubMutation } from '../hub/use-hub-mutation';
import { useNotify } from '../parts/use-notify';
import { ChangePasswordDocument } from './generated/account';

/** Characters; the hub's own rule. */
const passwordLengthMin = 12;

export function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const notify = useNotify();
  const { name, user } = useViewer();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [repeated, setRepeated] = useState('');
  const act = useHubMutation(ChangePasswordDocument, (data) => data.changePassword.userErrors);
  const differs = repeated !== '' && repeated !== next;
  const save = async () => {
    if (repeated !== next || !(await act.run({ current, next }))) return;
    notify(t('account.changed'));
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={t('app.changePassword')}>
      <DialogForm
        action={t('app.changePassword')}
        keep={t('keep.password')}
        onSubmit={save}
        onCancel={onClose}
        mutations={[act]}
      >
        {/* So that a password manager knows whose this is. */}
        <input type="text" autoComplete="username" value={user?.email ?? name} readOnly hidden />
        <PasswordInput
          label={t('account.current')}
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          required
          data-autofocus
        />
        <PasswordInput
          label={t('account.next')}
          description={t('account.nextHint')}
          autoComplete="new-password"
          minLength={passwordLengthMin}
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          required
        />
        <PasswordInput
          label={t('account.repeat')}
          autoComplete="new-password"
          value={repeated}
          error={differs && t('account.differs')}
          onChange={(event) => setRepeated(event.currentTarget.value)}
          required
        />
      </DialogForm>
    </Dialog>
  );
}
