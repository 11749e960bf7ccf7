/** Rare actions on a person: a new password, sign-out everywhere, disabling and deletion. */
import { useRef, useState } from 'react';
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Confirm } from '../../parts/dialog/confirm';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { Secret } from '../../parts/dialog/secret';
import { useNotify } from '../../parts/use-notify';
import { DeleteUserDocument, SignOutUserDocument, UpdateUserDocument } from './generated/access';
import { isHeld, offeredActs, type PersonAct } from './held-acts';
import { newPassword } from './new-password';
import type { User } from './people';

interface PersonMenuProps {
  readonly user: User;
  /** The hub refuses to disable or delete this person. */
  readonly isLastAdmin: boolean;
  readonly onChanged: () => void;
}

export function PersonMenu({ user, isLastAdmin, onChanged }: PersonMenuProps) {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<PersonAct>();
  const isSelf = useViewer().user?.id === user.id;
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setAsked(undefined);
    button.current?.focus();
  };
  const label = (act: PersonAct) => {
    if (act === 'switch') return t(user.disabledAt === null ? 'access.acts.disable' : 'access.acts.enable');
    return t(`access.acts.${act}`);
  };
  const props = (act: PersonAct) => ({ user, isOpen: asked === act, onClose: close, onChanged });
  return (
    <>
      <Menu position="bottom-end" keepMounted={false}>
        <Menu.Target>
          <ActionIcon ref={button} variant="subtle" size="sm" aria-label={t('access.actsFor', { name: user.name })}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isLastAdmin && <Menu.Label>{t('access.lastAdmin')}</Menu.Label>}
          {isSelf && user.hasPassword && <Menu.Label>{t('access.ownPassword')}</Menu.Label>}
          {offeredActs(isSelf).map((act) => (
            <Menu.Item key={act} disabled={isHeld(act, isLastAdmin)} onClick={() => setAsked(act)}>
              {label(act)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ResetPassword {...props('reset')} />
      <SignOut {...props('signOut')} />
      <Switch {...props('switch')} />
      <Remove {...props('remove')} />
    </>
  );
}

interface AskProps {
  readonly user: User;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function ResetPassword({ user, isOpen, onClose, onChanged }: AskProps) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string>();
  const act = useHubMutation(UpdateUserDocument, (data) => data.updateUser.userErrors);
  const reset = async () => {
    const password = newPassword();
    if (!(await act.run({ id: user.id, input: { password } }))) return;
    setSecret(password);
    onChanged();
  };
  const close = () => {
    setSecret(undefined);
    onClose();
  };
  const title = t('access.resetTitle', { name: user.name });
  if (secret !== undefined)
    return (
      <Dialog title={title} onClose={close} isSticky>
        <Secret label={t('access.newPassword')} hint={t('access.passwordOnce')} value={secret} onClose={close} />
      </Dialog>
    );
  return (
    <Confirm
      {...{ isOpen, title, onClose }}
      text={t('access.resetText')}
      act={t('access.acts.reset')}
      keep={t('keep.password')}
      isBusy={act.isBusy}
      failure={act.failure}
      onConfirm={() => void reset()}
    />
  );
}

function SignOut({ user, isOpen, onClose, onChanged }: AskProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const act = useHubMutation(SignOutUserDocument, (data) => data.signOutUser.userErrors);
  return (
    <ConfirmMutation
      mutation={act}
      variables={isOpen ? { id: user.id } : undefined}
      title={t('access.signOutTitle', { name: user.name })}
      text={t('access.signOutText')}
      act={t('access.acts.signOut')}
      keep={t('keep.sessions')}
      onClose={onClose}
      onDone={() => {
        notify(t('access.signedOut', { name: user.name }));
        onChanged();
      }}
    />
  );
}

function Switch({ user, isOpen, onClose, onChanged }: AskProps) {
  const { t } = useTranslation();
  const act = useHubMutation(UpdateUserDocument, (data) => data.updateUser.userErrors);
  const isActive = user.disabledAt === null;
  return (
    <ConfirmMutation
      mutation={act}
      variables={isOpen ? { id: user.id, input: { disabled: isActive } } : undefined}
      title={t(isActive ? 'access.disableTitle' : 'access.enableTitle', { name: user.name })}
      text={t(isActive ? 'access.disableText' : 'access.enableText')}
      act={t(isActive ? 'access.acts.disable' : 'access.acts.enable')}
      keep={t('keep.user')}
      onClose={onClose}
      onDone={onChanged}
    />
  );
}

function Remove({ user, isOpen, onClose, onChanged }: AskProps) {
  const { t } = useTranslation();
  const act = useHubMutation(DeleteUserDocument, (data) => data.deleteUser.userErrors);
  return (
    <ConfirmMutation
      mutation={act}
      variables={isOpen ? { id: user.id } : undefined}
      title={t('access.removeTitle', { name: user.name })}
      text={t(user.identityProvider === null ? 'access.removeText' : 'access.removeExternalText')}
      act={t('access.acts.remove')}
      keep={t('keep.user')}
      onClose={onClose}
      onDone={onChanged}
    />
  );
}
