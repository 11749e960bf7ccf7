/** A lazy chart over time with several lines and a legend. */
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { type ChartColours, EChart, timeOptions } from './echart';

interface Line {
  readonly name: string;
  readonly points: readonly { readonly at: string; readonly value: number }[];
}

export interface LinesChartProps {
  readonly lines: readonly Line[];
  /** The left end, an ISO time; the right end is now. */
  readonly since: string;
  readonly label: string;
}

export default function LinesChart({ lines, since, label }: LinesChartProps) {
  const { language } = useTranslation().i18n;
  const optionsOf = useCallback(
    (colours: ChartColours) => {
      const common = timeOptions({ colours, since, language });
      return {
        ...common,
        grid: { ...common.grid, top: 40 },
        legend: {
          top: 0,
          left: 0,
          type: 'scroll' as const,
          icon: 'roundRect',
          itemWidth: 14,
          itemHeight: 4,
          textStyle: { color: colours.soft },
          pageTextStyle: { color: colours.soft },
          pageIconColor: colours.soft,
        },
        series: lines.map(({ name, points }) => ({
          name,
          type: 'line' as const,
          symbol: 'circle',
          showSymbol: points.length === 1,
          data: points.map(({ at, value }) => [Date.parse(at), value]),
        })),
      };
    },
    [lines, since, language],
  );
  return <EChart label={label} optionsOf={optionsOf} />;
}
