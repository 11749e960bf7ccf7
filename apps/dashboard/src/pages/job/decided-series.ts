/** Decisions of a job over time as chart series: the hub's history, joined with live updates. */
import type { JobCountsFragment } from '@flotilla/client';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import type { OutcomeOrStage } from '../../parts/outcome/outcome-badge';
import { fillOf } from '../../parts/outcome/outcome-bar';
import type { TimeSeries } from '../../parts/chart/time-chart';
import { JobHistoryDocument, type JobSeenFragment } from './generated/job';
import { type DecidedCounts, decidedCounts, joined, type Moment } from './join-moments';

const drawn = {
  succeeded: 'SUCCEEDED',
  noChange: 'NO_CHANGE',
  failed: 'FAILED',
  rejected: 'REJECTED',
  verifyFailed: 'VERIFY_FAILED',
  unknown: 'UNKNOWN',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
  skipped: 'SKIPPED',
} as const satisfies Readonly<Record<keyof DecidedCounts, OutcomeOrStage>>;

/** Empty where too little has happened for a line. */
export function useDecidedSeries({ id, progress, state }: JobSeenFragment): readonly TimeSeries[] {
  const { t } = useTranslation();
  const { data } = useHubQuery({ query: JobHistoryDocument, variables: { id } });
  const seen = useSeen(progress, state === 'FINISHED');
  const moments = joined(data?.job?.decidedOverTime ?? [], seen);
  if (moments.length < 2) return [];
  const shown = decidedCounts.filter((name) => moments.some(({ [name]: count }) => count > 0));
  return shown.map((name) => ({
    name: t(`outcome.${drawn[name]}`),
    token: fillOf(drawn[name]),
    points: moments.map((moment) => [moment.at, moment[name]] as const),
  }));
}

/** The counts since the page was opened. A finished job has its past, and no more to come. */
function useSeen(progress: JobCountsFragment, isFinished: boolean): readonly Moment[] {
  const [seen, setSeen] = useState<readonly Moment[]>([]);
  useEffect(() => {
    setSeen((before) =>
      isFinished && before.length === 0 ? before : joined(before, [{ ...progress, at: new Date().toISOString() }]),
    );
  }, [progress, isFinished]);
  return seen;
}
