/** What the device reported over time: a small chart for each path, and a large one. */
import { lazy, Suspense, useMemo, useState } from 'react';
import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../../hub/use-hub-query';
import { LoadFailure } from '../../../parts/failure';
import { Section } from '../../../parts/page';
import { type ChartPeriod, chartPeriods, periodMs } from '../../../parts/chart/chart-period';
import { Spark } from '../../../parts/chart/spark';
import { Time } from '../../../parts/time';
import { MeasuredDocument, MeasuredPathsDocument, type MeasuredQuery } from './generated/measurements';
import classes from './measurements.module.css';

type Series = NonNullable<MeasuredQuery['device']>['measurements'][number];

const BandChart = lazy(() => import('../../../parts/chart/band-chart'));

/** Paths of one request of the API. */
const pathsMax = 50;
const points = 200;
const refreshMs = 60_000;
const restartDays = 7;

export function DeviceMeasurements({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const [period, setPeriod] = useState<ChartPeriod>('24h');
  const [chosen, setChosen] = useState<string>();
  const restartsSince = useMemo(() => new Date(Date.now() - restartDays * periodMs['24h']).toISOString(), []);
  const known = useHubQuery({
    query: MeasuredPathsDocument,
    variables: useMemo(() => ({ id, restartsSince }), [id, restartsSince]),
  });
  const paths = useMemo(() => known.data?.device?.measurementPaths.slice(0, pathsMax) ?? [], [known.data]);
  const variables = useMemo(
    () => ({ id, paths, points, since: new Date(Date.now() - periodMs[period]).toISOString() }),
    [id, paths, period],
  );
  const measured = useHubQuery({ query: MeasuredDocument, variables, refreshMs, pause: paths.length === 0 });
  const series = measured.data?.device?.measurements ?? [];
  const shown = series.find(({ path }) => path === chosen) ?? series[0];
  const restarts = known.data?.device?.unexpectedRestarts ?? 0;
  const error = known.error ?? measured.error;
  return (
    <Section
      title={t('measurements.title')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('measurements.period')}
          value={period}
          onChange={(value) => setPeriod(value as ChartPeriod)}
          data={chartPeriods.map((value) => ({
            value,
            label: t(`measurements.periods.${value}`),
          }))}
        />
      }
    >
      {error && <LoadFailure error={error} onRetry={measured.refresh} />}
      <p className="soft">{t('measurements.restarts', { count: restarts, days: restartDays })}</p>
      {paths.length === 0 && !known.isLoading && <p className="soft">{t('measurements.none')}</p>}
      {shown && <Large series={shown} since={variables.since} />}
      <ul className={classes.paths}>
        {series.map((one) => (
          <li key={one.path}>
            <button
              type="button"
              className={classes.path}
              aria-pressed={one === shown}
              onClick={() => setChosen(one.path)}
            >
              <Small series={one} />
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Small({ series: { path, latest, latestAt, points: line } }: { readonly series: Series }) {
  const spark = useMemo(() => line.map(({ at, mean }) => ({ at: Date.parse(at), value: mean })), [line]);
  return (
    <>
      <span className={classes.name}>{path}</span>
      <Spark points={spark} />
      <span className={classes.latest}>
        {latest}
        {latestAt !== null && (
          <span className="soft">
            {' '}
            <Time at={latestAt} />
          </span>
        )}
      </span>
    </>
  );
}

function Large({ series: { path, points: line }, since }: { readonly series: Series; readonly since: string }) {
  const { t } = useTranslation();
  const words = useMemo(() => ({ mean: t('measurements.mean'), range: t('measurements.range') }), [t]);
  return (
    <>
      <h3 className={classes.heading}>{path}</h3>
      {line.length === 0 && <p className="soft">{t('measurements.noPoints')}</p>}
      {line.length > 0 && (
        <Suspense fallback={<div className={classes.loading} />}>
          <BandChart points={line} since={since} label={t('measurements.chart', { path })} words={words} />
        </Suspense>
      )}
    </>
  );
}
