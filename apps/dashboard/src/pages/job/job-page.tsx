/** One job: live progress, failures, every target, and its actions. */
import { useCallback, useEffect, useState } from 'react';
import { IconListCheck } from '@tabler/icons-react';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSubscription } from 'urql';
import { useIsLimited, useViewer } from '../../hub/hub';
import { maySteerJob } from '../../hub/rights';
import { useHubQuery } from '../../hub/use-hub-query';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { JobBadge } from '../../parts/job/job-badge';
import { jobName } from '../../parts/job/job-name';
import { areTargetsSelected, countsOf, decidedOf, isOfHiddenTargets } from '../../parts/job/job-progress';
import { OutcomeBar } from '../../parts/outcome/outcome-bar';
import { Page, Section } from '../../parts/page';
import { TimeChart } from '../../parts/chart/time-chart';
import { useDecidedSeries } from './decided-series';
import { JobDocument, JobNewsDocument, type JobSeenFragment } from './generated/job';
import { JobActions } from './job-actions';
import { JobFacts } from './job-facts';
import { JobFailures } from './job-failures';
import { JobStatus } from './job-status';
import { JobTargets } from './job-targets';
import { JobWaves } from './job-waves';
import { latestJob } from './latest-job';
import { targetStage } from './target-stage';
import classes from './job.module.css';

const route = getRouteApi('/jobs/$id');

export function JobPage() {
  const { id } = route.useParams();
  return <KnownJob key={id} id={id} />;
}

function KnownJob({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { data, error, isLoading, refresh } = useHubQuery({ query: JobDocument, variables: { id } });
  const [job, setJob] = useState<JobSeenFragment>();
  const show = useCallback((next: JobSeenFragment) => setJob((shown) => latestJob(shown, next)), []);
  useEffect(() => {
    if (data?.job) show(data.job);
  }, [data, show]);
  const maySteer = maySteerJob(useViewer(), data?.job?.viewerMaySteer);
  const isLimited = useIsLimited();
  const [state, stateRead] = [job?.state, data?.job?.state];
  // A limited key may steer some jobs only when their targets are counted, which is another state.
  useEffect(() => {
    if (isLimited && state !== undefined && state !== stateRead) refresh();
  }, [isLimited, state, stateRead, refresh]);
  useSubscription({ query: JobNewsDocument, variables: { id } }, (_seen, news) => {
    show(news.jobProgress);
    return news;
  });
  return (
    <Page
      title={job ? jobName(job) : t('job.title')}
      lead={job && <Lead job={job} />}
      actions={job && <JobActions job={job} maySteer={maySteer} onChanged={show} />}
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data?.job === null && !isLoading && (
        <Empty icon={IconListCheck} title={t('job.unknown')} action={<Link to="/jobs">{t('nav.jobs')}</Link>}>
          {t('job.unknownHint')}
        </Empty>
      )}
      {job && <Sides job={job} maySteer={maySteer} onChanged={show} />}
    </Page>
  );
}

function Lead({ job }: { readonly job: JobSeenFragment }) {
  const { t } = useTranslation();
  return (
    <span className={classes.lead} role="status">
      <JobBadge state={job.state} conclusion={job.conclusion} />
      {job.state === 'PAUSED' && job.pauseReason !== null && (
        <span>{t(`job.pauseReason.${job.pauseReason as 'USER'}`)}</span>
      )}
      {areTargetsSelected(job.state, job.progress) && (
        <span className="figures">
          {t('overview.jobProgress', { decided: decidedOf(job.progress), total: job.progress.total })}
        </span>
      )}
      {isOfHiddenTargets(job.conclusion, job.progress) && <span>{t('job.ofHiddenTargets')}</span>}
    </span>
  );
}

interface SidesProps {
  readonly job: JobSeenFragment;
  readonly maySteer: boolean | undefined;
  readonly onChanged: (job: JobSeenFragment) => void;
}

function Sides({ job, maySteer, onChanged }: SidesProps) {
  const { t } = useTranslation();
  const { progress } = job;
  const bad = progress.failed + progress.rejected + progress.verifyFailed + progress.unknown + progress.expired;
  return (
    <>
      <JobStatus job={job} maySteer={maySteer} onChanged={onChanged} />
      <Section title={t('job.progress')}>
        <OutcomeBar counts={countsOf(progress)} />
        <ProgressChart job={job} />
      </Section>
      <JobFacts job={job} />
      {job.waves.length > 0 && (
        <JobWaves waves={job.waves} currentWave={job.currentWave} isAtGate={job.pauseReason === 'WAVE_GATE'} />
      )}
      {bad > 0 && <JobFailures id={job.id} bad={bad} isFinished={job.state === 'FINISHED'} />}
      <JobTargets id={job.id} stage={targetStage(job)} isFinished={job.state === 'FINISHED'} />
    </>
  );
}

function ProgressChart({ job }: { readonly job: JobSeenFragment }) {
  const { t, i18n } = useTranslation();
  const series = useDecidedSeries(job);
  if (series.length === 0) return null;
  const number = new Intl.NumberFormat(i18n.language);
  const latest = series
    .map(({ name, points }) => `${name} ${number.format(points.at(-1)?.[1] ?? 0)}`)
    .join(t('mark.comma'));
  return (
    <div className={classes.chart}>
      <h3 className={classes.chartTitle}>{t('job.overTime')}</h3>
      <TimeChart label={t('job.overTimeLabel', { latest })} series={series} isStacked />
    </div>
  );
}
