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
import { type HubAnswer, useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { jobName } from '../../parts/job/job-name';
import { Section } from '../../parts/page';
import {
  FailingWebhooksDocument,
  type FleetNowQuery,
  JobsNowDocument,
  type JobsNowQuery,
  LatestEventsDocument,
  UnansweredAlertsDocument,
  WaitingEnrolmentsDocument,
} from './generated/overview';
import { endOf, hasFailedSince, isFailing, waitsForPerson } from './attention-rules';
import { jobsRefreshMs, latelyHours, latelyRefreshMs } from './overview-pace';
import classes from './overview.module.css';

interface Item {
  readonly key: string;
  readonly icon: Icon;
  readonly token: string;
  readonly text: string;
  readonly link: Pick<LinkProps, 'to' | 'search' | 'params'>;
}

/** What one read found. */
interface Found {
  readonly items: readonly Item[];
  readonly read: HubAnswer<unknown>;
  /** False if the viewer may not read it. */
  readonly isAsked: boolean;
}

const lookBackMs = latelyHours * 3_600_000;

export function Attention({ fleet }: { readonly fleet: HubAnswer<FleetNowQuery> }) {
  const { t } = useTranslation();
  const found = [
    useAlertItems(),
    useJobItems(),
    useFlappingItems(),
    useEnrolmentItems(),
    useWebhookItems(),
    useStaleItems(fleet),
  ];
  const items = found.flatMap((one) => one.items);
  const asked = found.filter(({ isAsked }) => isAsked);
  const failed = asked.find(({ read }) => read.error !== undefined);
  const isAllKnown = asked.every(({ read }) => read.data !== undefined);
  return (
    <Section title={t('overview.attention')}>
      {failed && <ReadFailure read={failed.read} />}
      {items.length === 0 && !failed && !isAllKnown && <p className="soft">{t('common.loading')}</p>}
      {items.length === 0 && !failed && isAllKnown && (
        <p className={`soft ${classes.line} ${classes.calm}`}>
          <IconCircleCheck size={17} color="var(--succeeded)" aria-hidden />
          {t('overview.allWell')}
        </p>
      )}
      {items.length > 0 && (
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
function useAlertItems(): Found {
  const isAsked = useScope('EVENTS_READ');
  const read = useHubQuery({
    query: UnansweredAlertsDocument,
    variables: {},
    refreshMs: jobsRefreshMs,
    pause: !isAsked,
  });
  const items = (read.data?.alerts.nodes ?? []).map(({ id, severity, summary }): Item => ({
    ...{ key: id, icon: IconBell, token: severity === 'INFO' ? 'running' : 'failed', text: summary },
    link: { to: '/alerts/$id', params: { id } },
  }));
  return { items, read, isAsked };
}

function useJobItems(): Found {
  const { t } = useTranslation();
  const isAsked = useScope('JOBS_READ');
  const read = useHubQuery({ query: JobsNowDocument, variables: {}, refreshMs: jobsRefreshMs, pause: !isAsked });
  return { items: read.data ? jobItems(read.data, t) : [], read, isAsked };
}

function jobItems(data: JobsNowQuery, t: TFunction): readonly Item[] {
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
      text: t(`overview.jobEnded.${endOf(job)}`, { job: jobName(job) }),
      link: { to: '/jobs/$id', params: { id: job.id } },
    })),
  ];
}

function waitingText(job: JobsNowQuery['live']['nodes'][number], t: TFunction): string {
  const name = jobName(job);
  if (job.state !== 'PAUSED') return t('overview.jobAwaits', { job: name });
  return t('overview.jobPaused', { job: name, reason: t(`job.pauseReason.${(job.pauseReason ?? 'USER') as 'USER'}`) });
}

function useFlappingItems(): Found {
  const { t } = useTranslation();
  const isAsked = useScope('EVENTS_READ');
  const [since] = useState(() => new Date(Date.now() - lookBackMs).toISOString());
  const read = useHubQuery({
    query: LatestEventsDocument,
    variables: { since },
    refreshMs: latelyRefreshMs,
    pause: !isAsked,
  });
  const devices = [...new Set((read.data?.flapping.nodes ?? []).flatMap(({ deviceId }) => deviceId ?? []))];
  const [first] = devices;
  if (first === undefined) return { items: [], read, isAsked };
  const item: Item = {
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
  };
  return { items: [item], read, isAsked };
}

function useEnrolmentItems(): Found {
  const { t } = useTranslation();
  const read = useHubQuery({ query: WaitingEnrolmentsDocument, variables: {}, refreshMs: latelyRefreshMs });
  const waiting = read.data?.enrolments.nodes.length ?? 0;
  const item: Item = {
    key: 'enrolments',
    icon: IconUserPlus,
    token: 'running',
    text: t('overview.enrolmentsWait', { count: waiting }),
    link: { to: '/enrolments' },
  };
  return { items: waiting > 0 ? [item] : [], read, isAsked: true };
}

function useStaleItems(read: HubAnswer<FleetNowQuery>): Found {
  const { t } = useTranslation();
  const count = read.data?.fleetSummary.toolsStaleCount ?? 0;
  const item: Item = {
    key: 'stale',
    icon: IconTool,
    token: 'verify-failed',
    text: t('overview.stale', { count }),
    link: { to: '/devices', search: { toolsStale: true } },
  };
  return { items: count > 0 ? [item] : [], read, isAsked: true };
}

function useWebhookItems(): Found {
  const { t } = useTranslation();
  const isAsked = useScope('ADMIN');
  const read = useHubQuery({
    query: FailingWebhooksDocument,
    variables: {},
    refreshMs: latelyRefreshMs,
    pause: !isAsked,
  });
  const items = (read.data?.webhooks ?? []).filter(isFailing).map(({ id, url, pausedAt }): Item => ({
    key: id,
    icon: IconWebhookOff,
    token: 'failed',
    text: t(pausedAt === null ? 'overview.webhookFails' : 'overview.webhookPaused', { url }),
    link: { to: '/webhooks' },
  }));
  return { items, read, isAsked };
}
