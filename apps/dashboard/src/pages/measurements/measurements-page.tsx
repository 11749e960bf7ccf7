/** What the fleet reported over time: as a whole, or compared by model, firmware or group. */
import { Suspense, useMemo } from 'react';
import { Group, MultiSelect, SegmentedControl, Select } from '@mantine/core';
import { IconChartLine, IconDownload } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { saveText } from '../../hub/send-file';
import { useHubQuery } from '../../hub/use-hub-query';
import { ActButton } from '../../parts/act-button';
import { type ChartPeriod, chartPeriods, periodMs } from '../../parts/chart/chart-period';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { lazyPart, loadPart } from '../../parts/lazy-part';
import { type Groups, MoreGroups, useGroups } from '../../parts/groups/groups';
import { Page, Section } from '../../parts/page';
import classes from './measurements.module.css';
import { MeasuredFleetDocument, type MeasuredFleetQuery } from './generated/measurements';
import type { FleetLine, FleetPart } from './fleet-lines';
import { linesMax, type MeasurementSearch, type MeasurementSplit, measurementSplits } from './measurement-search';
import { useFleetLines } from './use-fleet-lines';

const LinesChart = lazyPart(() => import('../../parts/chart/lines-chart').then((part) => part.default));

interface Choice {
  readonly value: string;
  readonly label: string;
}

export function MeasurementsPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/measurements' });
  const { period = '24h', split = 'FLEET' } = search;
  const navigate = useNavigate();
  const change = (changes: Partial<MeasurementSearch>) =>
    void navigate({ to: '/measurements', search: { ...search, ...changes }, replace: true });
  const { data, error, refresh } = useHubQuery({ query: MeasuredFleetDocument, variables: {} });
  const { groups } = useGroups();
  const paths = data?.fleetMeasurementPaths ?? [];
  const path = search.path ?? firstPath(paths);
  const choices = useMemo(() => choicesOf(data, groups, split), [data, groups, split]);
  const chosen = useMemo(() => search.of ?? choices.slice(0, linesMax).map(({ value }) => value), [search.of, choices]);
  const parts = useMemo(
    () => partsOf(split, choices, chosen, t('measurements.split.FLEET')),
    [split, choices, chosen, t],
  );
  const { lines, since, error: linesError } = useFleetLines(path, parts, periodMs[period]);
  return (
    <Page
      title={t('nav.measurements')}
      lead={t('measurements.lead')}
      actions={path !== undefined && lines !== undefined && <Download path={path} lines={lines} />}
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data && paths.length === 0 && (
        <Empty icon={IconChartLine} title={t('measurements.noPaths')}>
          {t('measurements.noPathsHint')}
        </Empty>
      )}
      {path !== undefined && (
        <Section title={path}>
          <Controls path={path} paths={paths} split={split} period={period} change={change} />
          {split === 'GROUP' && <MoreGroups />}
          {split !== 'FLEET' && (
            <MultiSelect
              mb="md"
              label={t('measurements.compared')}
              description={t('measurements.comparedHint', { max: linesMax })}
              data={[...choices]}
              value={[...chosen]}
              maxValues={linesMax}
              searchable
              onChange={(of) => change({ of })}
            />
          )}
          {linesError && <LoadFailure error={linesError} onRetry={refresh} />}
          {!lines && !linesError && parts.length > 0 && <div className={classes.loading} />}
          {lines && <Lines lines={lines} since={since} path={path} isSplit={split !== 'FLEET'} />}
        </Section>
      )}
    </Page>
  );
}

interface ControlsProps {
  readonly path: string;
  readonly paths: readonly string[];
  readonly split: MeasurementSplit;
  readonly period: ChartPeriod;
  readonly change: (changes: Partial<MeasurementSearch>) => void;
}

function Controls({ path, paths, split, period, change }: ControlsProps) {
  const { t } = useTranslation();
  return (
    <Group align="flex-end" mb="md">
      <Select
        className={classes.path ?? ''}
        label={t('measurements.path')}
        data={paths.includes(path) ? [...paths] : [path, ...paths]}
        value={path}
        allowDeselect={false}
        searchable
        onChange={(value) => value !== null && change({ path: value })}
      />
      <SegmentedControl
        aria-label={t('measurements.splitBy')}
        value={split}
        onChange={(value) => change({ split: value as MeasurementSplit, of: undefined })}
        data={measurementSplits.map((value) => ({ value, label: t(`measurements.split.${value}`) }))}
      />
      <SegmentedControl
        aria-label={t('measurements.period')}
        value={period}
        onChange={(value) => change({ period: value as ChartPeriod })}
        data={chartPeriods.map((value) => ({ value, label: t(`measurements.periods.${value}`) }))}
      />
    </Group>
  );
}

function Download({ path, lines }: { readonly path: string; readonly lines: readonly FleetLine[] }) {
  const { t } = useTranslation();
  const save = async () => {
    const part = await loadPart(() => import('./lines-csv'));
    if (part) saveText(part.csvOf(path, lines), 'measurements.csv');
  };
  return (
    <ActButton icon={IconDownload} onClick={() => void save()}>
      {t('measurements.download')}
    </ActButton>
  );
}

interface LinesProps {
  readonly lines: readonly FleetLine[];
  readonly since: string;
  readonly path: string;
  readonly isSplit: boolean;
}

/** The whole fleet has its mean and its 95th percentile; parts of it have their means. */
function Lines({ lines, since, path, isSplit }: LinesProps) {
  const { t } = useTranslation();
  const shown = useMemo(() => {
    const means = lines.filter(hasPoints).map(({ name, points }) => ({
      name: isSplit ? name : t('measurements.mean'),
      points: points.map(({ at, mean }) => ({ at, value: mean })),
    }));
    const [fleet] = lines;
    if (isSplit || fleet === undefined) return means;
    return [...means, { name: t('measurements.p95'), points: fleet.points.map(({ at, p95 }) => ({ at, value: p95 })) }];
  }, [lines, isSplit, t]);
  if (!lines.some(hasPoints)) return <p className="soft">{t('measurements.noPoints')}</p>;
  const silent = lines.filter((line) => !hasPoints(line)).map(({ name }) => name);
  return (
    <>
      <Suspense fallback={<div className={classes.loading} />}>
        <LinesChart lines={shown} since={since} label={t('measurements.chart', { path })} />
      </Suspense>
      {silent.length > 0 && (
        <p className="soft">{t('measurements.noPointsOf', { names: silent.join(t('mark.listed')) })}</p>
      )}
    </>
  );
}

const hasPoints = ({ points }: FleetLine) => points.length > 0;

/** A path of status tools, which most devices have, rather than samples of a few boards. */
function firstPath(paths: readonly string[]): string | undefined {
  return paths.find((path) => !path.startsWith('samples:')) ?? paths[0];
}

function choicesOf(
  data: MeasuredFleetQuery | undefined,
  groups: Groups['groups'],
  split: MeasurementSplit,
): readonly Choice[] {
  if (data === undefined || split === 'FLEET') return [];
  if (split === 'GROUP') return groups.map(({ id, name }) => ({ value: id, label: name }));
  const { models, firmwareVersions } = data.fleetSummary;
  return (split === 'MODEL' ? models : firmwareVersions).flatMap(({ value }) =>
    value === null ? [] : [{ value, label: value }],
  );
}

function partsOf(
  split: MeasurementSplit,
  choices: readonly Choice[],
  chosen: readonly string[],
  fleet: string,
): readonly FleetPart[] {
  if (split === 'FLEET') return [{ name: fleet, filter: { all: true } }];
  const key = split === 'MODEL' ? 'model' : split === 'FIRMWARE' ? 'firmwareVersion' : 'groupId';
  return chosen.map((value) => ({
    name: choices.find((choice) => choice.value === value)?.label ?? value,
    filter: { [key]: value },
  }));
}
