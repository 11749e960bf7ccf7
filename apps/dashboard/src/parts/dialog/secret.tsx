/** A secret that is shown once, to be copied. */
import { ActionIcon, Alert, Button, CopyButton, Group, Stack, TextInput } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

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
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput flex={1} label={label} value={value} readOnly onFocus={(event) => event.currentTarget.select()} />
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <ActionIcon
              size="lg"
              variant="default"
              aria-label={t(copied ? 'common.copied' : 'common.copy')}
              onClick={copy}
            >
              {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            </ActionIcon>
          )}
        </CopyButton>
      </Group>
      <Button onClick={onClose}>{t('common.close')}</Button>
    </Stack>
  );
}
