/** The processes of the hub, what waits to be written, and the way to its metrics. */
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { HealthDocument, type HealthQuery } from './generated/settings';

type Process = HealthQuery['hubStatus']['processes'][number];
type Writer = HealthQuery['hubStatus']['writers'][number];

/** Ms. */
const refreshMs = 3_000;

export function Health() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: HealthDocument, variables: {}, refreshMs });
  const [processes, writers] = [useProcessColumns(), useWriterColumns()];
  return (
    <Section title={t('settings.health')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data && (
        <>
          <p className="soft">
            {t('settings.capacity', { online: data.hubStatus.onlineCount, count: data.hubStatus.deviceCount })}
          </p>
          <h3>{t('settings.processes')}</h3>
          <DataTable
            label={t('settings.processes')}
            columns={processes}
            rows={data.hubStatus.processes}
            rowKey={({ id }) => id}
            maxHeight="260px"
          />
          <h3>{t('settings.writers')}</h3>
          <p className="soft">{t('settings.writersHint')}</p>
          <DataTable
            label={t('settings.writers')}
            columns={writers}
            rows={data.hubStatus.writers}
            rowKey={({ name }) => name}
            maxHeight="420px"
          />
        </>
      )}
    </Section>
  );
}

function useProcessColumns(): readonly Column<Process>[] {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return [
    { id: 'host', header: t('settings.host'), width: 140, cell: ({ host }) => host },
    {
      id: 'roles',
      header: t('settings.roles'),
      width: 170,
      cell: ({ roles }) => roles.join(t('mark.listed')) || t('common.none'),
    },
    {
      id: 'version',
      header: t('settings.version'),
      width: 80,
      grow: 0,
      cell: ({ version }) => version || t('common.none'),
    },
    { id: 'pid', header: t('settings.pid'), width: 70, grow: 0, isNumeric: true, cell: ({ pid }) => pid },
    {
      id: 'state',
      header: t('settings.state'),
      width: 100,
      grow: 0,
      cell: ({ isAlive }) => t(isAlive ? 'settings.alive' : 'settings.gone'),
    },
    {
      id: 'online',
      header: t('settings.sessions'),
      width: 110,
      grow: 0,
      isNumeric: true,
      cell: ({ onlineCount }) => number.format(onlineCount),
    },
    { id: 'started', header: t('settings.started'), width: 120, cell: ({ startedAt }) => <Time at={startedAt} /> },
  ];
}

function useWriterColumns(): readonly Column<Writer>[] {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return [
    { id: 'name', header: t('settings.writer'), width: 160, cell: ({ name }) => <code>{name}</code> },
    {
      id: 'depth',
      header: t('settings.depth'),
      width: 90,
      grow: 0,
      isNumeric: true,
      cell: ({ depth }) => number.format(depth),
    },
    {
      id: 'lag',
      header: t('settings.lag'),
      width: 90,
      grow: 0,
      isNumeric: true,
      cell: ({ lagMs }) => number.format(Math.round(lagMs)) + t('unit.ms'),
    },
    {
      id: 'dropped',
      header: t('settings.dropped'),
      width: 90,
      grow: 0,
      isNumeric: true,
      cell: ({ droppedTotal }) => number.format(droppedTotal),
    },
  ];
}
