/** The pin registry of a microcontroller. */
import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Section } from '../../parts/page';
import { ScrollTable } from '../../parts/table/scroll-table';
import type { DeviceSeen } from './device-page';

export function DevicePins({ pins }: { readonly pins: DeviceSeen['pins'] }) {
  const { t } = useTranslation();
  return (
    <Section title={t('device.tabs.pins')}>
      <ScrollTable
        label={t('device.tabs.pins')}
        minWidth={420}
        headers={[t('device.pin'), t('device.pinName'), t('device.pinType'), t('device.pinText')]}
      >
        {pins.map(({ pin, name, type, description }) => (
          <Table.Tr key={name}>
            <Table.Td>{pin}</Table.Td>
            <Table.Td>
              <code>{name}</code>
            </Table.Td>
            <Table.Td>{type}</Table.Td>
            <Table.Td>{description ?? t('common.none')}</Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
    </Section>
  );
}
