/**
 * Values over time: one stepped line, or stacked areas. Drawn as SVG with colour tokens, without
 * inline styles that the Content-Security-Policy would block.
 */
import { type PointerEvent, useState } from 'react';
import { useElementSize } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { axisTime } from './axis-time';
import { timeChartHeight as height } from './time-chart-height';
import { layOut, type Layout, type TimeSeries } from './time-chart-layout';
import classes from './time-chart.module.css';

export type { TimeSeries } from './time-chart-layout';

interface TimeChartProps {
  /** What the chart shows, with its latest values: read instead of the picture. */
  readonly label: string;
  readonly series: readonly TimeSeries[];
  readonly isStacked?: boolean;
}

export function TimeChart({ label, series, isStacked = false }: TimeChartProps) {
  const { i18n } = useTranslation();
  const { ref, width } = useElementSize();
  const [pointed, setPointed] = useState<number>();
  const layout = layOut(series, { width, height, isStacked });
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const left = event.clientX - event.currentTarget.getBoundingClientRect().left;
    setPointed(layout?.indexAt(left));
  };
  return (
    <div ref={ref} className={classes.chart} style={{ height }}>
      {layout && (
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={height}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={() => setPointed(undefined)}
        >
          <Axes layout={layout} language={i18n.language} />
          {layout.shapes.map(({ name, token, area, line }) => (
            <g key={name} style={{ color: `var(--${token})` }}>
              <path d={area} className={isStacked ? classes.layer : classes.area} />
              {!isStacked && <path d={line} className={classes.line} />}
            </g>
          ))}
          {pointed !== undefined && (
            <line
              className={classes.pointer}
              x1={layout.x(pointed)}
              x2={layout.x(pointed)}
              y1={layout.top}
              y2={layout.bottom}
            />
          )}
        </svg>
      )}
      {layout && pointed !== undefined && (
        <Reading layout={layout} index={pointed} width={width} language={i18n.language} />
      )}
    </div>
  );
}

interface AxesProps {
  readonly layout: Layout;
  readonly language: string;
}

function Axes({ layout: { valueTicks, timeTicks, left, right, bottom, y, labelX }, language }: AxesProps) {
  const compact = new Intl.NumberFormat(language, { notation: 'compact' });
  return (
    <g className={classes.axes} aria-hidden>
      {valueTicks.map((value) => (
        <g key={value}>
          <line x1={left} x2={right} y1={y(value)} y2={y(value)} />
          <text x={left - 8} y={y(value) + 4} textAnchor="end">
            {compact.format(value)}
          </text>
        </g>
      ))}
      {timeTicks.map((at) => (
        <text key={at} x={labelX(at)} y={bottom + 18} textAnchor="middle">
          {axisTime(at, language)}
        </text>
      ))}
    </g>
  );
}

interface ReadingProps {
  readonly layout: Layout;
  readonly index: number;
  readonly width: number;
  readonly language: string;
}

/** The values at the pointer, on the side where there is room. */
function Reading({ layout, index, width, language }: ReadingProps) {
  const x = layout.x(index);
  const at = layout.times[index] ?? 0;
  const number = new Intl.NumberFormat(language);
  return (
    <div className={classes.reading} style={x > width / 2 ? { right: width - x + 10 } : { left: x + 10 }}>
      <div className="soft">
        {new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'long' }).format(at)}
      </div>
      {layout.shapes.map(({ name, token, values }) => (
        <div key={name} className={classes.readingLine}>
          <i style={{ background: `var(--${token})` }} />
          <span>{name}</span>
          <b className="figures">{number.format(values[index] ?? 0)}</b>
        </div>
      ))}
    </div>
  );
}
