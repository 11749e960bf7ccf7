/** Three ways to add devices: the code that one shows, a link for many, or a file. */
import { useState } from 'react';
import { Tabs } from '@mantine/core';
import { IconFileSpreadsheet, IconHash, IconQrcode } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useFleetScope, useScope } from '../../hub/hub';
import { Dialog } from '../../parts/dialog/dialog';
import classes from './add-devices.module.css';
import { ByCode } from './by-code';
import { ByFile } from './by-file';
import { ByLink } from './by-link';

export function AddDevicesDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  // A link approves devices without a person, so only administrators make one.
  const isAdmin = useScope('ADMIN');
  // The hub lets a limited key register devices, but not approve them.
  const mayApprove = useFleetScope('DEVICES_WRITE');
  // The answer has credentials, which are shown only once.
  const [isRegistering, setRegistering] = useState(false);
  return (
    <Dialog title={t('addDevices.title')} onClose={onClose} size="lg" isHeld={isRegistering}>
      <Tabs
        defaultValue={mayApprove ? 'code' : 'file'}
        classNames={{ tab: classes.tab ?? '', tabLabel: classes.tabLabel ?? '' }}
      >
        <Tabs.List mb="md" grow>
          {mayApprove && (
            <Tabs.Tab value="code" disabled={isRegistering} leftSection={<IconHash size={16} aria-hidden />}>
              {t('addDevices.code')}
            </Tabs.Tab>
          )}
          {isAdmin && (
            <Tabs.Tab value="link" disabled={isRegistering} leftSection={<IconQrcode size={16} aria-hidden />}>
              {t('addDevices.link')}
            </Tabs.Tab>
          )}
          <Tabs.Tab value="file" leftSection={<IconFileSpreadsheet size={16} aria-hidden />}>
            {t('addDevices.file')}
          </Tabs.Tab>
        </Tabs.List>
        {mayApprove && (
          <Tabs.Panel value="code">
            <ByCode onClose={onClose} />
          </Tabs.Panel>
        )}
        {isAdmin && (
          <Tabs.Panel value="link">
            <ByLink onClose={onClose} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="file">
          <ByFile onClose={onClose} onRegistering={setRegistering} />
        </Tabs.Panel>
      </Tabs>
    </Dialog>
  );
}
