/**
 * A chart over time with a line for the mean and a band from the smallest to the largest value. It
 * has its own chunk, because the library is large.
 */
import { useEffect, useRef } from 'react';
import { LineChart } from 'echarts/charts';
import { AriaComponent, DataZoomComponent, GridComponent, TooltipComponent } from 'echarts/components';
import { init, use as register } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import classes from './chart.module.css';

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

register([LineChart, GridComponent, TooltipComponent, DataZoomComponent, AriaComponent, CanvasRenderer]);

export default function BandChart({ points, since, label, words }: BandChartProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = init(element);
    chart.setOption(optionsOf({ points, since, words }, getComputedStyle(element)));
    const resized = new ResizeObserver(() => chart.resize());
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.dispose();
    };
  }, [points, since, words]);
  return <div ref={place} className={classes.chart} role="img" aria-label={label} />;
}

function optionsOf({ points, since, words }: Omit<BandChartProps, 'label'>, style: CSSStyleDeclaration) {
  const [ink, soft, line] = ['--accent', '--ink-soft', '--line'].map((name) => style.getPropertyValue(name).trim());
  const series = (name: string, value: (point: BandPoint) => number) => ({
    ...{ name, type: 'line' as const, showSymbol: points.length === 1, color: ink },
    data: points.map((point) => [Date.parse(point.at), value(point)]),
  });
  const hidden = { lineStyle: { opacity: 0 }, stack: 'band', stackStrategy: 'all' as const, silent: true };
  const axis = { axisLabel: { color: soft }, splitLine: { lineStyle: { color: line } } };
  return {
    animation: false,
    grid: { left: 56, right: 16, top: 16, bottom: 64 },
    xAxis: {
      ...{ ...axis, type: 'time' as const, splitLine: { show: false } },
      ...{ min: Date.parse(since), max: Date.now() },
    },
    yAxis: { ...axis, type: 'value' as const, scale: true },
    dataZoom: [{ type: 'inside' as const }, { type: 'slider' as const, height: 20, bottom: 12 }],
    // Text instead of HTML, because the console allows no inline styles.
    tooltip: { trigger: 'axis' as const, renderMode: 'richText' as const },
    series: [
      { ...series(`${words.range} –`, ({ min }) => min), ...hidden, tooltip: { show: false } },
      {
        ...series(words.range, ({ min, max }) => max - min),
        ...hidden,
        areaStyle: { opacity: 0.18 },
        tooltip: { show: false },
      },
      series(words.mean, ({ mean }) => mean),
    ],
  };
}
