/** A chart over time whose script is not part of the first load. Its place is kept until then. */
import { type ComponentProps, Suspense } from 'react';
import { lazyPart } from '../lazy-part';
import type { TimeChart } from './time-chart';
import { timeChartHeight } from './time-chart-height';

const Chart = lazyPart(() => import('./time-chart').then((part) => part.TimeChart));

export function LazyTimeChart(props: ComponentProps<typeof TimeChart>) {
  return (
    <Suspense fallback={<div style={{ height: timeChartHeight }} />}>
      <Chart {...props} />
    </Suspense>
  );
}
