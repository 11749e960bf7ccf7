/**
 * A live overview of the fleet. Each panel loads its own data, so that viewers see what their
 * scopes allow.
 */
import { Suspense } from 'react';
import { Page } from '../../parts/page';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubQuery } from '../../hub/use-hub-query';
import { LoadFailure } from '../../parts/failure';
import { lazyPart } from '../../parts/lazy-part';
import { Attention } from './attention';
import { Figures } from './figures';
import { FleetNowDocument } from './generated/overview';
import { CallOutcomes, OnlineHistory } from './recent-history';
import classes from './overview.module.css';
import { Shares } from './shares';

/** The last row of the page. Its scripts are not part of the first load. */
const LiveJobs = lazyPart(() => import('./live-jobs').then((part) => part.LiveJobs));
const LatestEvents = lazyPart(() => import('./latest-events').then((part) => part.LatestEvents));

/** Counting a fleet of 100,000 takes the hub a twentieth of a second. */
const refreshMs = 5_000;

export function OverviewPage() {
  const { t } = useTranslation();
  const [mayReadJobs, mayReadEvents] = [useScope('JOBS_READ'), useScope('EVENTS_READ')];
  const read = useHubQuery({ query: FleetNowDocument, variables: {}, refreshMs });
  const fleet = read.data?.fleetSummary;
  return (
    <Page title={t('overview.title')}>
      {read.error && <LoadFailure error={read.error} onRetry={read.refresh} />}
      <Figures read={read} />
      <div className={classes.wide}>
        <OnlineHistory />
        <Attention fleet={read} />
      </div>
      <div className={classes.thirds}>
        <Shares title={t('overview.byModel')} condition="model" shares={fleet?.models} />
        <Shares title={t('overview.byFirmware')} condition="firmwareVersion" shares={fleet?.firmwareVersions} />
        <CallOutcomes />
      </div>
      <div className={classes.thirds}>
        <Suspense>
          {mayReadJobs && <LiveJobs />}
          {mayReadEvents && <LatestEvents />}
        </Suspense>
      </div>
    </Page>
  );
}
