/** The counts of a job while it is looked at, as series of a chart. */
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { countsOf } from '../../parts/job-progress';
import { fillOf, outcomesInOrder } from '../../parts/outcome-bar';
import type { OutcomeOrStage } from '../../parts/outcome-badge';
import type { TimeSeries } from '../../parts/time-chart';
import type { JobSeenFragment } from './generated/job';

interface Sample {
  readonly at: string;
  readonly counts: Readonly<Partial<Record<OutcomeOrStage, number>>>;
}

/** At two a second this is five minutes; older ones are thinned out then. */
const samplesMax = 600;
/** What waits is what is missing to the top of the chart. */
const drawn = outcomesInOrder.filter((outcome) => outcome !== 'PENDING' && outcome !== 'WAITING_DEVICE');

export function useWatchedProgress({ progress, state }: JobSeenFragment): readonly TimeSeries[] {
  const { t } = useTranslation();
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    const sample = { at: new Date().toISOString(), counts: countsOf(progress) };
    setSamples((seen) => {
      if (state === 'FINISHED' && seen.length === 0) return [];
      return JSON.stringify(seen.at(-1)?.counts) === JSON.stringify(sample.counts) ? seen : thinned([...seen, sample]);
    });
  }, [progress, state]);
  if (samples.length < 3) return [];
  const shown = drawn.filter((outcome) => samples.some(({ counts }) => (counts[outcome] ?? 0) > 0));
  return shown.map((outcome) => ({
    name: t(`outcome.${outcome}`),
    token: fillOf(outcome),
    points: samples.map(({ at, counts }) => [at, counts[outcome] ?? 0] as const),
  }));
}

function thinned(samples: readonly Sample[]): readonly Sample[] {
  return samples.length <= samplesMax ? samples : samples.filter((_, index) => index % 2 === 0);
}
