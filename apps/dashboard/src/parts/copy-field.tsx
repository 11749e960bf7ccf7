/** A text to copy, selected as a whole on focus. */
import { ActionIcon, Group, Stack, TextInput } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useCopy } from './copy-as/use-copy';

interface CopyFieldProps {
  readonly label: string;
  readonly value: string;
  readonly description?: string;
  /** Where it replaces a form that had the focus. */
  readonly takesFocus?: boolean;
}

export function CopyField({ label, value, description, takesFocus = false }: CopyFieldProps) {
  const { t } = useTranslation();
  const { field, copy, isCopied, isRefused } = useCopy<HTMLInputElement>(value);
  return (
    <Stack gap={4}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          ref={field}
          flex={1}
          label={label}
          {...(description !== undefined && { description })}
          value={value}
          readOnly
          autoFocus={takesFocus}
          onFocus={(event) => event.currentTarget.select()}
        />
        <ActionIcon
          size="lg"
          variant="default"
          aria-label={t(isCopied ? 'common.copied' : 'common.copy')}
          onClick={copy}
        >
          {isCopied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
        </ActionIcon>
      </Group>
      {isRefused && <div role="alert">{t('common.copyRefused')}</div>}
    </Stack>
  );
}
