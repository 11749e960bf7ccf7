/** What needs attention, each with a link. Shows a note if there is nothing. */
import { useState } from 'react';
import {
  type Icon,
  IconAlertTriangle,
  IconBell,
  IconCircleCheck,
  IconPlayerPause,
  IconPlugConnected,
  IconTool,
  IconUserPlus,
  IconWebhookOff,
} from '@tabler/icons-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubQuery } from '../../hub/use-hub-query';
import { jobName } from '../../parts/job/job-name';
import { Section } from '../../parts/page';
import {
  FailingWebhooksDocument,
  JobsNowDocument,
  type JobsNowQuery,
  LatestEventsDocument,
  UnansweredAlertsDocument,
  WaitingEnrolmentsDocument,
} from './generated/overview';
import { hasFailedSince, isFailing, waitsForPerson } from './attention-rules';
import { jobsRefreshMs, latelyHours, latelyRefreshMs } from './overview-pace';
import classes from './overview.module.css';

interface Item {
  readonly key: string;
  readonly icon: Icon;
  readonly token: string;
  readonly text: string;
  readonly link: Pick<LinkProps, 'to' | 'search' | 'params'>;
}

const lookBackMs = latelyHours * 3_600_000;

export function Attention({ toolsStaleCount }: { readonly toolsStaleCount: number }) {
  const { t } = useTranslation();
  const items = [
    ...useAlertItems(),
    ...useJobItems(),
    ...useFlappingItems(),
    ...useEnrolmentItems(),
    ...useWebhookItems(),
  ];
  if (toolsStaleCount > 0)
    items.push({
      key: 'stale',
      icon: IconTool,
      token: 'verify-failed',
      text: t('overview.stale', { count: toolsStaleCount }),
      link: { to: '/devices', search: { toolsStale: true } },
    });
  return (
    <Section title={t('overview.attention')}>
      {items.length === 0 ? (
        <p className={`soft ${classes.line} ${classes.calm}`}>
          <IconCircleCheck size={17} color="var(--succeeded)" aria-hidden />
          {t('overview.allWell')}
        </p>
      ) : (
        <ul className={classes.list}>
          {items.map(({ key, icon: Shape, token, text, link }) => (
            <li key={key}>
              <Link {...link} className={classes.line}>
                <Shape size={17} stroke={1.8} color={`var(--${token})`} aria-hidden />
                <span className={classes.grow}>{text}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Alerts that fire and have not been acknowledged. */
function useAlertItems(): Item[] {
  const { data } = useHubQuery({
    query: UnansweredAlertsDocument,
    variables: {},
    refreshMs: jobsRefreshMs,
    pause: !useScope('EVENTS_READ'),
  });
  return (data?.alerts.nodes ?? []).map(({ id, severity, summary }): Item => ({
    ...{ key: id, icon: IconBell, token: severity === 'INFO' ? 'running' : 'failed', text: summary },
    link: { to: '/alerts/$id', params: { id } },
  }));
}

function useJobItems(): Item[] {
  const { t } = useTranslation();
  const { data } = useHubQuery({
    query: JobsNowDocument,
    variables: {},
    refreshMs: jobsRefreshMs,
    pause: !useScope('JOBS_READ'),
  });
  if (!data) return [];
  const waiting = data.live.nodes.filter(waitsForPerson);
  const ended = data.ended.nodes.filter((job) => hasFailedSince(job, Date.now() - lookBackMs));
  return [
    ...waiting.map((job): Item => ({
      key: job.id,
      icon: IconPlayerPause,
      token: 'unknown',
      text: waitingText(job, t),
      link: { to: '/jobs/$id', params: { id: job.id } },
    })),
    ...ended.slice(0, 4).map((job): Item => ({
      key: job.id,
      icon: IconAlertTriangle,
      token: 'failed',
      text: t(`overview.jobEnded.${job.conclusion}`, { job: jobName(job) }),
      link: { to: '/jobs/$id', params: { id: job.id } },
    })),
  ];
}

function waitingText(job: JobsNowQuery['live']['nodes'][number], t: TFunction): string {
  const name = jobName(job);
  if (job.state !== 'PAUSED') return t('overview.jobAwaits', { job: name });
  return t('overview.jobPaused', { job: name, reason: t(`job.pauseReason.${(job.pauseReason ?? 'USER') as 'USER'}`) });
}

function useFlappingItems(): Item[] {
  const { t } = useTranslation();
  const [since] = useState(() => new Date(Date.now() - lookBackMs).toISOString());
  const { data } = useHubQuery({
    query: LatestEventsDocument,
    variables: { since },
    refreshMs: latelyRefreshMs,
    pause: !useScope('EVENTS_READ'),
  });
  const devices = [...new Set((data?.flapping.nodes ?? []).flatMap(({ deviceId }) => deviceId ?? []))];
  const [first] = devices;
  if (first === undefined) return [];
  return [
    {
      key: 'flapping',
      icon: IconPlugConnected,
      token: 'unknown',
      text:
        devices.length === 1
          ? t('overview.flappingOne', { device: first })
          : t('overview.flapping', { count: devices.length }),
      link:
        devices.length === 1
          ? { to: '/devices/$id', params: { id: first } }
          : { to: '/events', search: { types: ['device.flapping', 'device.throttled'] } },
    },
  ];
}

function useEnrolmentItems(): Item[] {
  const { t } = useTranslation();
  const { data } = useHubQuery({ query: WaitingEnrolmentsDocument, variables: {}, refreshMs: latelyRefreshMs });
  const waiting = data?.enrolments.nodes.length ?? 0;
  if (waiting === 0) return [];
  return [
    {
      key: 'enrolments',
      icon: IconUserPlus,
      token: 'running',
      text: t('overview.enrolmentsWait', { count: waiting }),
      link: { to: '/enrolments' },
    },
  ];
}

function useWebhookItems(): Item[] {
  const { t } = useTranslation();
  const { data } = useHubQuery({
    query: FailingWebhooksDocument,
    variables: {},
    refreshMs: latelyRefreshMs,
    pause: !useScope('ADMIN'),
  });
  return (data?.webhooks ?? []).filter(isFailing).map(({ id, url, pausedAt }): Item => ({
    key: id,
    icon: IconWebhookOff,
    token: 'failed',
    text: t(pausedAt === null ? 'overview.webhookFails' : 'overview.webhookPaused', { url }),
    link: { to: '/webhooks' },
  }));
}
