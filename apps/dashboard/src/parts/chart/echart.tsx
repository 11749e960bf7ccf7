/** A chart of ECharts that fills its place. Only lazy charts import it: the library is large. */
import { useEffect, useRef } from 'react';
import { useComputedColorScheme } from '@mantine/core';
import { LineChart } from 'echarts/charts';
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import { init, use as register } from 'echarts/core';
import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { axisStart } from './axis-start';
import { axisTime } from './axis-time';
import classes from './chart.module.css';

/** Colours of the page, as CSS has them. */
export interface ChartColours {
  readonly accent: string;
  readonly soft: string;
  readonly line: string;
  readonly sunken: string;
  readonly surface: string;
  readonly ink: string;
  /** Of several lines, in their order. */
  readonly lines: readonly string[];
}

interface EChartProps {
  readonly label: string;
  /** Called again when it changes. */
  readonly optionsOf: (colours: ChartColours) => EChartsCoreOption;
}

register([
  LineChart,
  GridComponent,
  TooltipComponent,
  DataZoomComponent,
  LegendComponent,
  AriaComponent,
  CanvasRenderer,
]);

export function EChart({ label, optionsOf }: EChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(undefined);
  const scheme = useComputedColorScheme();
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = init(element);
    chart.current = made;
    const resized = new ResizeObserver(() => made.resize());
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.dispose();
    };
  }, []);
  // Into the same chart, so that new values leave its zoom and the hidden lines as they are.
  useEffect(() => {
    if (place.current) chart.current?.setOption(optionsOf(coloursOf(place.current)), { replaceMerge: 'series' });
  }, [optionsOf, scheme]);
  return <div ref={place} className={classes.chart} role="img" aria-label={label} />;
}

interface TimeOptions {
  readonly colours: ChartColours;
  /** The left end, an ISO time; the right end is now. */
  readonly since: string;
  readonly language: string;
}

/** What charts over time share. */
export function timeOptions({ colours, since, language }: TimeOptions) {
  const { accent, ink, line, lines, soft, sunken, surface } = colours;
  const axis = { axisLabel: { color: soft }, splitLine: { lineStyle: { color: line } } };
  return {
    animation: false,
    color: [...lines],
    grid: { left: 56, right: 16, top: 16, bottom: 64 },
    xAxis: {
      type: 'time' as const,
      splitLine: { show: false },
      axisLabel: { color: soft, hideOverlap: true, formatter: (at: number) => axisTime(at, language) },
      min: Date.parse(since),
      max: Date.now(),
    },
    yAxis: { ...axis, type: 'value' as const, scale: true, min: axisStart },
    dataZoom: [
      { type: 'inside' as const },
      {
        type: 'slider' as const,
        height: 20,
        bottom: 12,
        backgroundColor: sunken,
        borderColor: line,
        fillerColor: 'transparent',
        dataBackground: shadowOf(soft, 0.3),
        selectedDataBackground: shadowOf(accent, 0.8),
        handleStyle: { color: soft, borderColor: soft },
        moveHandleStyle: { color: soft, opacity: 0.5 },
      },
    ],
    // Text instead of HTML, because the console allows no inline styles.
    tooltip: {
      trigger: 'axis' as const,
      renderMode: 'richText' as const,
      backgroundColor: surface,
      borderColor: line,
      textStyle: { color: ink },
    },
  };
}

function shadowOf(color: string, opacity: number) {
  return { lineStyle: { color, opacity }, areaStyle: { color, opacity: opacity / 4 } };
}

/** None is red, which is left to failures. */
const lineTokens = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];

function coloursOf(element: HTMLElement): ChartColours {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    accent: read('--accent'),
    soft: read('--ink-soft'),
    line: read('--line'),
    sunken: read('--sunken'),
    surface: read('--surface'),
    ink: read('--ink'),
    lines: lineTokens.map(read),
  };
}
