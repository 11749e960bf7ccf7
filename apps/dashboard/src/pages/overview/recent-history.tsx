/** The last day: devices online over time, and how calls ended. */
import { useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { OutcomeBar, type OutcomeCounts } from '../../parts/outcome/outcome-bar';
import { Section } from '../../parts/page';
import { LazyTimeChart } from '../../parts/chart/lazy-time-chart';
import { failedOutcomes } from '../calls/call-search';
import { FleetLatelyDocument } from './generated/overview';
import { latelyHours, latelyRefreshMs } from './overview-pace';

const asked = { query: FleetLatelyDocument, variables: { hours: latelyHours }, refreshMs: latelyRefreshMs };

export function OnlineHistory() {
  const { t } = useTranslation();
  const read = useHubQuery(asked);
  const history = read.data?.fleetSummary.onlineHistory;
  const series = useMemo(
    () => [
      {
        name: t('presence.ONLINE'),
        token: 'accent',
        points: (history ?? []).map(({ at, onlineCount }) => [at, onlineCount] as const),
      },
    ],
    [history, t],
  );
  return (
    <Section title={t('overview.onlineHistory', { hours: latelyHours })}>
      <ReadFailure read={read} />
      <LazyTimeChart
        label={t('overview.onlineHistoryNow', { count: history?.at(-1)?.onlineCount ?? 0 })}
        series={series}
      />
    </Section>
  );
}

export function CallOutcomes() {
  const { t } = useTranslation();
  const read = useHubQuery(asked);
  const outcomes = read.data?.fleetSummary.calls.outcomes;
  const counts: OutcomeCounts = Object.fromEntries((outcomes ?? []).map(({ outcome, count }) => [outcome, count]));
  return (
    <Section
      title={t('overview.callOutcomes', { hours: latelyHours })}
      actions={
        <Link to="/calls" search={{ outcomes: failedOutcomes, hours: latelyHours }}>
          {t('overview.failedCalls')}
        </Link>
      }
    >
      <ReadFailure read={read} />
      {outcomes?.length === 0 && <p className="soft">{t('overview.noCalls')}</p>}
      {outcomes !== undefined && outcomes.length > 0 && <OutcomeBar counts={counts} />}
    </Section>
  );
}
