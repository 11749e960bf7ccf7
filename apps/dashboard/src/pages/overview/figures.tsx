/** The few numbers that say whether all is well. */
import type { ReactNode } from 'react';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { type HubAnswer, useHubQuery } from '../../hub/use-hub-query';
import {
  FleetLatelyDocument,
  type FleetNowQuery,
  JobsNowDocument,
  WaitingEnrolmentsDocument,
} from './generated/overview';
import { jobsRefreshMs, latelyHours, latelyRefreshMs } from './overview-pace';
import classes from './overview.module.css';

export function Figures({ read }: { readonly read: HubAnswer<FleetNowQuery> }) {
  const { t } = useTranslation();
  const fleet = read.data?.fleetSummary;
  const number = useNumbers();
  const share = fleet && fleet.deviceCount > 0 ? fleet.onlineCount / fleet.deviceCount : undefined;
  return (
    <div className={classes.figures}>
      <Figure
        read={read}
        name={t('overview.online')}
        value={fleet && number(fleet.onlineCount)}
        note={
          fleet &&
          t('overview.ofDevices', { count: fleet.deviceCount, share: number(share ?? 0, { style: 'percent' }) })
        }
        link={{ to: '/devices', search: { presence: 'ONLINE' } }}
      />
      <Figure
        read={read}
        name={t('overview.offline')}
        value={fleet && number(fleet.deviceCount - fleet.onlineCount - fleet.neverConnectedCount)}
        note={
          fleet &&
          (fleet.neverConnectedCount > 0
            ? t('overview.neverConnected', { count: fleet.neverConnectedCount })
            : t('overview.rightNow'))
        }
        link={{ to: '/devices', search: { presence: 'OFFLINE' } }}
      />
      <CallFigure />
      {useScope('JOBS_READ') && <JobFigure />}
      <EnrolmentFigure />
    </div>
  );
}

function CallFigure() {
  const { t } = useTranslation();
  const number = useNumbers();
  const read = useHubQuery({
    query: FleetLatelyDocument,
    variables: { hours: latelyHours },
    refreshMs: latelyRefreshMs,
  });
  const outcomes = read.data?.fleetSummary.calls.outcomes ?? [];
  const total = outcomes.reduce((sum, { count }) => sum + count, 0);
  const good = outcomes.reduce(
    (sum, { outcome, count }) => sum + (outcome === 'SUCCEEDED' || outcome === 'NO_CHANGE' ? count : 0),
    0,
  );
  return (
    <Figure
      read={read}
      name={t('overview.calls', { hours: latelyHours })}
      value={read.data && number(total)}
      note={
        total === 0
          ? t('overview.noCalls')
          : t('overview.succeeded', { share: number(good / total, { style: 'percent' }) })
      }
      link={{ to: '/calls', search: { hours: latelyHours } }}
    />
  );
}

function JobFigure() {
  const { t } = useTranslation();
  const number = useNumbers();
  const read = useHubQuery({ query: JobsNowDocument, variables: {}, refreshMs: jobsRefreshMs });
  const { data } = read;
  const paused = data?.paused.totalCount ?? 0;
  return (
    <Figure
      read={read}
      name={t('overview.jobs')}
      value={data && number(data.live.totalCount ?? 0)}
      note={paused > 0 ? t('overview.paused', { count: paused }) : t('overview.nonePaused')}
      link={{ to: '/jobs', search: { show: 'live' } }}
    />
  );
}

function EnrolmentFigure() {
  const { t } = useTranslation();
  const number = useNumbers();
  const read = useHubQuery({ query: WaitingEnrolmentsDocument, variables: {}, refreshMs: latelyRefreshMs });
  const { data } = read;
  const waiting = data?.enrolments.nodes.length ?? 0;
  return (
    <Figure
      read={read}
      name={t('overview.enrolments')}
      value={data && `${number(waiting)}${data.enrolments.pageInfo.hasNextPage ? '+' : ''}`}
      note={t('overview.waiting')}
      link={{ to: '/enrolments' }}
    />
  );
}

interface FigureProps {
  readonly read: HubAnswer<unknown>;
  readonly name: string;
  /** Undefined while it is not known. */
  readonly value: ReactNode;
  readonly note: ReactNode;
  readonly link?: Pick<LinkProps, 'to' | 'search'>;
}

function Figure({ read: { data, error }, name, value, note, link }: FigureProps) {
  const { t } = useTranslation();
  const content = (
    <>
      <div className={classes.figureName}>{name}</div>
      <div className={classes.figureValue}>{value ?? (error ? t('common.none') : '…')}</div>
      <div className={classes.figureNote}>
        {error ? t(data === undefined ? 'failure.title' : 'failure.stale') : data !== undefined && note}
      </div>
    </>
  );
  return link ? (
    <Link {...link} className={classes.figure}>
      {content}
    </Link>
  ) : (
    <div className={classes.figure}>{content}</div>
  );
}

function useNumbers() {
  const { i18n } = useTranslation();
  return (value: number, options: Intl.NumberFormatOptions = {}) =>
    new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1, ...options }).format(value);
}
