/** A secret that is shown once, to be copied. */
import { Alert, Button, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyField } from '../copy-field';

export interface SecretProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onClose: () => void;
}

export function Secret({ label, hint, value, onClose }: SecretProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      <Alert color="accent">{hint}</Alert>
      <CopyField label={label} value={value} takesFocus />
      <Button onClick={onClose}>{t('common.close')}</Button>
    </Stack>
  );
}
