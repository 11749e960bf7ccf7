/** Rare device actions that cannot be undone easily: a new credential, and removal. */
import { useRef, useState } from 'react';
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots, IconKey, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Confirm } from '../../parts/dialog/confirm';
import { Secret } from '../../parts/dialog/secret';
import { useNotify } from '../../parts/use-notify';
import type { DeviceSeen } from './device-page';
import { RemoveDeviceDocument, RotateDeviceCredentialDocument } from './generated/device';

type Asked = 'rotate' | 'remove';

export function DeviceMenu({ device }: { readonly device: DeviceSeen }) {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<Asked>();
  const button = useRef<HTMLButtonElement>(null);
  // The menu's entry, which had the focus, is gone by then.
  const close = () => {
    setAsked(undefined);
    button.current?.focus();
  };
  return (
    <>
      <Menu position="bottom-end" keepMounted={false}>
        <Menu.Target>
          <ActionIcon ref={button} variant="default" size="lg" aria-label={t('device.more')}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconKey size={16} aria-hidden />} onClick={() => setAsked('rotate')}>
            {t('device.rotate')}
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setAsked('remove')}>
            {t('device.removeDevice')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <RotateCredential device={device} isOpen={asked === 'rotate'} onClose={close} />
      <RemoveDevice device={device} isOpen={asked === 'remove'} onClose={close} />
    </>
  );
}

interface AskProps {
  readonly device: DeviceSeen;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function RotateCredential({ device, isOpen, onClose }: AskProps) {
  const { t } = useTranslation();
  const [credential, setCredential] = useState<string>();
  const act = useHubMutation(RotateDeviceCredentialDocument, (data) => data.rotateDeviceCredential.userErrors);
  const rotate = async () => {
    const data = await act.run({ id: device.id });
    if (!data) return;
    setCredential(JSON.stringify(data.rotateDeviceCredential.credential));
    onClose();
  };
  return (
    <>
      <Confirm
        isOpen={isOpen}
        title={t('device.rotateTitle', { device: device.name ?? device.id })}
        text={t('device.rotateText')}
        act={t('device.rotate')}
        keep={t('keep.credential')}
        isBusy={act.isBusy}
        failure={act.failure}
        onConfirm={() => void rotate()}
        onClose={onClose}
      />
      <Dialog
        isOpen={credential !== undefined}
        onClose={() => setCredential(undefined)}
        title={t('device.rotate')}
        isSticky
      >
        <Secret
          label={t('device.credential')}
          hint={t('device.credentialHint')}
          value={credential ?? ''}
          onClose={() => setCredential(undefined)}
        />
      </Dialog>
    </>
  );
}

function RemoveDevice({ device, isOpen, onClose }: AskProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const navigate = useNavigate();
  const name = device.name ?? device.id;
  const act = useHubMutation(RemoveDeviceDocument, (data) => data.removeDevice.userErrors);
  const remove = async () => {
    if (!(await act.run({ id: device.id }))) return;
    notify(t('device.removed', { device: name }));
    await navigate({ to: '/devices' });
  };
  return (
    <Confirm
      isOpen={isOpen}
      title={t('device.removeTitle', { device: name })}
      text={t('device.removeText')}
      act={t('device.removeDevice')}
      keep={t('keep.device')}
      isBusy={act.isBusy}
      failure={act.failure}
      onConfirm={() => void remove()}
      onClose={onClose}
    />
  );
}
