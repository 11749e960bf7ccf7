/** Jobs that wait for a person, and jobs that ended badly a short time ago. */
import { IconAlertTriangle, IconPlayerPause } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubQuery } from '../../hub/use-hub-query';
import { jobName } from '../../parts/job/job-name';
import { periodStart } from '../../parts/time/period-start';
import { endOf, hasFailedSince } from './attention-rules';
import type { Found, Item } from './found';
import { JobsEndedBadlyDocument, JobsNowDocument, type JobsNowQuery } from './generated/overview';
import { jobsRefreshMs, latelyHours, latelyMs, latelyRefreshMs, latelyStepMs } from './overview-pace';

/** Lines; a further one says that there are more. */
const endedShown = 4;

export function useStoppedJobs(): Found {
  const { t } = useTranslation();
  const isAsked = useScope('JOBS_READ');
  const read = useHubQuery({ query: JobsNowDocument, variables: {}, refreshMs: jobsRefreshMs, pause: !isAsked });
  const { nodes = [], pageInfo } = read.data?.stopped ?? {};
  const items = nodes.map((job): Item => ({
    key: job.id,
    icon: IconPlayerPause,
    token: 'unknown',
    text: waitingText(job, t),
    link: { to: '/jobs/$id', params: { id: job.id } },
  }));
  const more: Item = {
    key: 'stopped',
    icon: IconPlayerPause,
    token: 'unknown',
    text: t('overview.moreJobsWait'),
    link: { to: '/jobs', search: { show: 'live' } },
  };
  return { items: pageInfo?.hasNextPage ? [...items, more] : items, read, isAsked };
}

export function useFailedJobs(): Found {
  const { t } = useTranslation();
  const isAsked = useScope('JOBS_READ');
  const since = periodStart(latelyMs, latelyStepMs);
  const read = useHubQuery({
    query: JobsEndedBadlyDocument,
    variables: { since },
    refreshMs: latelyRefreshMs,
    pause: !isAsked,
  });
  const ended = read.data?.jobs.nodes.filter((job) => hasFailedSince(job, Date.now() - latelyMs)) ?? [];
  const items = ended.slice(0, endedShown).map((job): Item => ({
    key: job.id,
    icon: IconAlertTriangle,
    token: 'failed',
    text: t(`overview.jobEnded.${endOf(job)}`, { job: jobName(job) }),
    link: { to: '/jobs/$id', params: { id: job.id } },
  }));
  const more: Item = {
    key: 'ended',
    icon: IconAlertTriangle,
    token: 'failed',
    text: t('overview.moreJobsEnded', { hours: latelyHours }),
    link: { to: '/jobs', search: { show: 'finished' } },
  };
  return { items: ended.length > endedShown ? [...items, more] : items, read, isAsked };
}

function waitingText(job: JobsNowQuery['stopped']['nodes'][number], t: TFunction): string {
  const name = jobName(job);
  if (job.state !== 'PAUSED') return t('overview.jobAwaits', { job: name });
  return t('overview.jobPaused', { job: name, reason: t(`job.pauseReason.${(job.pauseReason ?? 'USER') as 'USER'}`) });
}
