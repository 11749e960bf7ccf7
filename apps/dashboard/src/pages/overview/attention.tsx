/** What needs attention, each with a link. Shows a note if there is nothing. */
import {
  IconBell,
  IconCircleCheck,
  IconPlugConnected,
  IconTool,
  IconUserPlus,
  IconWebhookOff,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { type HubAnswer, useHubQuery } from '../../hub/use-hub-query';
import { useSummaryLanguage } from '../../parts/alert/use-summary-language';
import { ReadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { periodStart } from '../../parts/time/period-start';
import {
  FailingWebhooksDocument,
  type FleetNowQuery,
  LatestEventsDocument,
  UnansweredAlertsDocument,
  WaitingEnrolmentsDocument,
} from './generated/overview';
import { isFailing } from './attention-rules';
import type { Found, Item } from './found';
import { useFailedJobs, useStoppedJobs } from './found-jobs';
import { jobsRefreshMs, latelyMs, latelyRefreshMs, latelyStepMs } from './overview-pace';
import classes from './overview.module.css';

export function Attention({ fleet }: { readonly fleet: HubAnswer<FleetNowQuery> }) {
  const { t } = useTranslation();
  const found = [
    useAlertItems(),
    useStoppedJobs(),
    useFailedJobs(),
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
  const { t } = useTranslation();
  const isAsked = useScope('EVENTS_READ');
  const read = useHubQuery({
    query: UnansweredAlertsDocument,
    variables: { language: useSummaryLanguage() },
    refreshMs: jobsRefreshMs,
    pause: !isAsked,
  });
  const nodes = read.data?.alerts.nodes ?? [];
  const items = nodes.map(({ id, severity, summary }): Item => ({
    key: id,
    icon: IconBell,
    token: severity === 'INFO' ? 'running' : 'failed',
    text: summary,
    link: { to: '/alerts/$id', params: { id } },
  }));
  const count = (read.data?.alerts.totalCount ?? 0) - nodes.length;
  const more: Item = {
    key: 'alerts',
    icon: IconBell,
    token: 'failed',
    text: t('overview.moreAlerts', { count }),
    link: { to: '/alerts' },
  };
  return { items: count > 0 ? [...items, more] : items, read, isAsked };
}

function useFlappingItems(): Found {
  const { t } = useTranslation();
  const isAsked = useScope('EVENTS_READ');
  const since = periodStart(latelyMs, latelyStepMs);
  const read = useHubQuery({
    query: LatestEventsDocument,
    variables: { since },
    refreshMs: latelyRefreshMs,
    pause: !isAsked,
  });
  const devices = [...new Set((read.data?.flapping.nodes ?? []).flatMap(({ deviceId }) => deviceId ?? []))];
  const [first] = devices;
  const count = devices.length;
  const isCut = read.data?.flapping.pageInfo.hasNextPage === true;
  if (first === undefined) return { items: [], read, isAsked };
  const item: Item = {
    key: 'flapping',
    icon: IconPlugConnected,
    token: 'unknown',
    text: isCut
      ? t('overview.flappingMore', { count })
      : count === 1
        ? t('overview.flappingOne', { device: first })
        : t('overview.flapping', { count }),
    link:
      count === 1 && !isCut
        ? { to: '/devices/$id', params: { id: first } }
        : { to: '/events', search: { types: ['device.flapping', 'device.throttled'] } },
  };
  return { items: [item], read, isAsked };
}

function useEnrolmentItems(): Found {
  const { t } = useTranslation();
  const read = useHubQuery({ query: WaitingEnrolmentsDocument, variables: {}, refreshMs: latelyRefreshMs });
  const waiting = read.data?.enrolments.nodes.length ?? 0;
  const isCut = read.data?.enrolments.pageInfo.hasNextPage === true;
  const item: Item = {
    key: 'enrolments',
    icon: IconUserPlus,
    token: 'running',
    text: t(isCut ? 'overview.enrolmentsWaitMore' : 'overview.enrolmentsWait', { count: waiting }),
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
