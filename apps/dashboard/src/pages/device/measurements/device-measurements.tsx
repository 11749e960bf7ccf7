/** What the device reported over time: a small chart for each path, and a large one. */
import { Suspense, useMemo } from 'react';
import { Button, SegmentedControl } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../../hub/use-hub-query';
import { LoadFailure } from '../../../parts/failure';
import { lazyPart } from '../../../parts/lazy-part';
import { Section } from '../../../parts/page';
import { periodStart } from '../../../parts/time/period-start';
import { type ChartPeriod, chartPeriods, periodMs } from '../../../parts/chart/chart-period';
import { Spark } from '../../../parts/chart/spark';
import { Time } from '../../../parts/time/time';
import { pageStart, pathsMax } from './chart-pages';
import { MeasuredDocument, MeasuredPathsDocument, type MeasuredQuery } from './generated/measurements';
import classes from './measurements.module.css';

type Series = NonNullable<MeasuredQuery['device']>['measurements'][number];

const BandChart = lazyPart(() => import('../../../parts/chart/band-chart').then((part) => part.default));

const route = getRouteApi('/devices/$id');
const points = 200;
const refreshMs = 60_000;
const restartDays = 7;

export function DeviceMeasurements({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { period = '24h', path: chosen } = route.useSearch();
  const navigate = useNavigate({ from: '/devices/$id' });
  const change = (changes: { readonly period?: ChartPeriod; readonly path?: string }) =>
    void navigate({ search: (present) => ({ ...present, ...changes }), replace: true, resetScroll: false });
  const restartsSince = periodStart(restartDays * periodMs['24h']);
  const known = useHubQuery({
    query: MeasuredPathsDocument,
    variables: useMemo(() => ({ id, restartsSince }), [id, restartsSince]),
  });
  const allPaths = useMemo(() => known.data?.device?.measurementPaths ?? [], [known.data]);
  const start = pageStart(allPaths, chosen);
  const turn = (next: number) => {
    const path = allPaths[next];
    if (path !== undefined) change({ path });
  };
  const paths = useMemo(() => allPaths.slice(start, start + pathsMax), [allPaths, start]);
  const since = periodStart(periodMs[period]);
  const variables = useMemo(() => ({ id, paths, points, since }), [id, paths, since]);
  const measured = useHubQuery({ query: MeasuredDocument, variables, refreshMs, pause: paths.length === 0 });
  const series = measured.data?.device?.measurements ?? [];
  const shown = series.find(({ path }) => path === chosen) ?? series[0];
  const restarts = known.data?.device?.unexpectedRestarts;
  return (
    <Section
      title={t('measurements.title')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('measurements.period')}
          value={period}
          onChange={(value) => change({ period: value as ChartPeriod })}
          data={chartPeriods.map((value) => ({
            value,
            label: t(`measurements.periods.${value}`),
          }))}
        />
      }
    >
      {known.error && <LoadFailure error={known.error} onRetry={known.refresh} />}
      {measured.error && <LoadFailure error={measured.error} onRetry={measured.refresh} />}
      {restarts !== undefined && (
        <p className="soft">{t('measurements.restarts', { count: restarts, days: restartDays })}</p>
      )}
      {known.data && allPaths.length === 0 && <p className="soft">{t('measurements.none')}</p>}
      {/* Another period begins without the zoom of the former one. */}
      {shown && <Large key={period} series={shown} since={since} />}
      <ul className={classes.paths}>
        {series.map((one) => (
          <li key={one.path}>
            <button
              type="button"
              className={classes.path}
              aria-pressed={one === shown}
              onClick={() => change({ path: one.path })}
            >
              <Small series={one} />
            </button>
          </li>
        ))}
      </ul>
      {allPaths.length > pathsMax && <Pages start={start} count={allPaths.length} onStart={turn} />}
    </Section>
  );
}

interface PagesProps {
  readonly start: number;
  readonly count: number;
  readonly onStart: (start: number) => void;
}

function Pages({ start, count, onStart }: PagesProps) {
  const { t } = useTranslation();
  const end = Math.min(start + pathsMax, count);
  return (
    <div className={classes.pages}>
      <span className="soft figures">{t('measurements.pathsOf', { from: start + 1, to: end, all: count })}</span>
      <Button size="xs" variant="default" disabled={start === 0} onClick={() => onStart(start - pathsMax)}>
        {t('measurements.previousPaths')}
      </Button>
      <Button size="xs" variant="default" disabled={end === count} onClick={() => onStart(end)}>
        {t('measurements.nextPaths')}
      </Button>
    </div>
  );
}

function Small({ series: { path, latest, latestAt, points: line } }: { readonly series: Series }) {
  const { i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 6 });
  const spark = useMemo(() => line.map(({ at, mean }) => ({ at: Date.parse(at), value: mean })), [line]);
  return (
    <>
      <span className={classes.name}>{path}</span>
      <Spark points={spark} />
      <span className={classes.latest}>
        {latest !== null && number.format(latest)}
        {latestAt !== null && (
          <span className="soft">
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
