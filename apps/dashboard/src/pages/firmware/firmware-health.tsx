/** Unexpected restarts of each version per 1,000 device-hours, against the version before. */
import { useMemo } from 'react';
import { SegmentedControl, Table } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { periodStart } from '../../parts/time/period-start';
import { ScrollTable } from '../../parts/table/scroll-table';
import { type HealthPeriod, healthPeriods } from './firmware-search';
import { FirmwareHealthDocument, type FirmwareHealthQuery } from './generated/firmware';

type Health = FirmwareHealthQuery['firmwareHealth'][number];

const route = getRouteApi('/firmware');
const refreshMs = 60_000;
const columns = ['version', 'devices', 'offline', 'hours', 'restarts', 'rate', 'against'] as const;

export function FirmwareHealth() {
  const { t } = useTranslation();
  const { period = '7d' } = route.useSearch();
  const navigate = useNavigate({ from: '/firmware' });
  const since = periodStart(healthPeriods[period]);
  const variables = useMemo(() => ({ since }), [since]);
  const { data, error, refresh } = useHubQuery({ query: FirmwareHealthDocument, variables, refreshMs });
  const rows = data?.firmwareHealth ?? [];
  return (
    <Section
      title={t('firmwareHealth.title')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('measurements.period')}
          value={period}
          onChange={(value) =>
            void navigate({ search: { period: value as HealthPeriod }, replace: true, resetScroll: false })
          }
          data={(Object.keys(healthPeriods) as HealthPeriod[]).map((value) => ({
            value,
            label: t(`measurements.periods.${value}`),
          }))}
        />
      }
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data && rows.length === 0 && <p className="soft">{t('overview.noDevices')}</p>}
      {rows.length > 0 && (
        <ScrollTable
          label={t('firmwareHealth.title')}
          minWidth={760}
          headers={columns.map((column) => t(`firmwareHealth.${column}`))}
        >
          {rows.map((health) => (
            <VersionRow key={health.version} health={health} />
          ))}
        </ScrollTable>
      )}
    </Section>
  );
}

function VersionRow({ health }: { readonly health: Health }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 });
  const { deviceCount, deviceHours, offlineCount, rateHigh, rateLow, restartsPer1000Hours, version } = health;
  const { isBetter, isWorse, previousVersion, unexpectedRestarts } = health;
  const verdict = isWorse ? 'worse' : isBetter ? 'better' : 'alike';
  return (
    <Table.Tr>
      <Table.Th scope="row">{version}</Table.Th>
      <Table.Td className="figures">{number.format(deviceCount)}</Table.Td>
      <Table.Td className="figures">{deviceCount > 0 ? share.format(offlineCount / deviceCount) : '–'}</Table.Td>
      <Table.Td className="figures">{number.format(deviceHours)}</Table.Td>
      <Table.Td className="figures">{number.format(unexpectedRestarts)}</Table.Td>
      <Table.Td className="figures">
        {restartsPer1000Hours === null ? '–' : number.format(restartsPer1000Hours)}{' '}
        {rateLow !== null && rateHigh !== null && (
          <span className="soft">
            {t('firmwareHealth.interval', { low: number.format(rateLow), high: number.format(rateHigh) })}
          </span>
        )}
      </Table.Td>
      <Table.Td>
        {previousVersion === null ? '–' : t(`firmwareHealth.verdict.${verdict}`, { version: previousVersion })}
      </Table.Td>
    </Table.Tr>
  );
}
