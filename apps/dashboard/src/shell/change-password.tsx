/** A person's own password. Asked for twice, because nobody can read what they type. */
import { type FormEvent, useState } from 'react';
import { Button, Group, Modal, PasswordInput, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../hub/hub';
import { useHubMutation } from '../hub/use-hub-mutation';
import { MutationFailureNotice } from '../parts/failure';
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
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (repeated !== next || !(await act.run({ current, next }))) return;
    notify(t('account.changed'));
    onClose();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('app.changePassword')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <form onSubmit={(event) => void save(event)}>
        <Stack>
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
          <MutationFailureNotice failure={act.failure} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={act.isBusy}>
              {t('app.changePassword')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
