/** Chooses the columns of the Devices table. The device itself is always there. */
import { Checkbox, Popover, Stack } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../../parts/act-button';
import type { ColumnChoice } from './column-choice';

export function ColumnMenu({ offered, shown, toggle }: ColumnChoice) {
  const { t } = useTranslation();
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <ActButton icon={IconColumns3}>{t('devices.chooseColumns')}</ActButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          {offered.slice(1).map((id) => (
            <Checkbox
              key={id}
              size="xs"
              label={t(`devices.columns.${id}`)}
              checked={shown.has(id)}
              onChange={() => toggle(id)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
