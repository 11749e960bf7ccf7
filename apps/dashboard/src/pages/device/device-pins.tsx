/** The pin registry of a microcontroller. */
import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Section } from '../../parts/page';
import type { DeviceSeen } from './device-page';

export function DevicePins({ pins }: { readonly pins: DeviceSeen['pins'] }) {
  const { t } = useTranslation();
  return (
    <Section title={t('device.tabs.pins')}>
      <Table.ScrollContainer minWidth={420}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('device.pin')}</Table.Th>
              <Table.Th>{t('device.pinName')}</Table.Th>
              <Table.Th>{t('device.pinType')}</Table.Th>
              <Table.Th>{t('device.pinText')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
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
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}
