/** Warns that boards cannot reach an OTA address. Shows nothing for other addresses. */
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './add-devices.module.css';
import { isLoopback } from './loopback';

export function LoopbackHint({ address }: { readonly address: string }) {
  const { t } = useTranslation();
  if (!isLoopback(address)) return null;
  return (
    <Text size="sm" className={classes.loopback ?? ''}>
      {t('addDevices.loopback')}
    </Text>
  );
}
