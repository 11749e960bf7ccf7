/** A text to copy, selected as a whole on focus. */
import { ActionIcon, CopyButton, Group, TextInput } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

interface CopyFieldProps {
  readonly label: string;
  readonly value: string;
  readonly description?: string;
  /** Where it replaces a form that had the focus. */
  readonly takesFocus?: boolean;
}

export function CopyField({ label, value, description, takesFocus = false }: CopyFieldProps) {
  const { t } = useTranslation();
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        flex={1}
        label={label}
        {...(description !== undefined && { description })}
        value={value}
        readOnly
        autoFocus={takesFocus}
        onFocus={(event) => event.currentTarget.select()}
      />
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
  );
}
