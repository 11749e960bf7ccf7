/**
 * A chart over time with a line for the mean and a band from the smallest to the largest value. It
 * has its own chunk, because the library is large.
 */
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { type ChartColours, EChart, timeOptions } from './echart';

export interface BandPoint {
  readonly at: string;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

export interface BandChartProps {
  readonly points: readonly BandPoint[];
  /** The left end, an ISO time; the right end is now. */
  readonly since: string;
  readonly label: string;
  readonly words: { readonly mean: string; readonly range: string };
}

export default function BandChart({ points, since, label, words }: BandChartProps) {
  const { language } = useTranslation().i18n;
  const optionsOf = useCallback(
    (colours: ChartColours) => ({
      ...timeOptions({ colours, since, language }),
      series: seriesOf(points, words, colours.accent),
    }),
    [points, since, words, language],
  );
  return <EChart label={label} optionsOf={optionsOf} />;
}

function seriesOf(points: readonly BandPoint[], words: BandChartProps['words'], color: string) {
  const series = (name: string, value: (point: BandPoint) => number) => ({
    name,
    type: 'line' as const,
    symbol: 'circle',
    showSymbol: points.length === 1,
    color,
    data: points.map((point) => [Date.parse(point.at), value(point)]),
  });
  const hidden = { lineStyle: { opacity: 0 }, stack: 'band', stackStrategy: 'all' as const, silent: true };
  return [
    { ...series(`${words.range} –`, ({ min }) => min), ...hidden, tooltip: { show: false } },
    {
      ...series(words.range, ({ min, max }) => max - min),
      ...hidden,
      areaStyle: { opacity: 0.18 },
      tooltip: { show: false },
    },
    series(words.mean, ({ mean }) => mean),
  ];
}
