/** The layout of a time chart: scales from zero, round ticks, paths. Pure. */

export interface TimeSeries {
  readonly name: string;
  /** A token without its dashes: `accent`, `failed-fill`. */
  readonly token: string;
  /** RFC 3339 and value, oldest first; all series of a chart have the same moments. */
  readonly points: readonly (readonly [string, number])[];
}

interface Shape {
  readonly name: string;
  readonly token: string;
  readonly values: readonly number[];
  readonly line: string;
  readonly area: string;
}

export interface Layout {
  readonly times: readonly number[];
  readonly shapes: readonly Shape[];
  readonly valueTicks: readonly number[];
  readonly timeTicks: readonly number[];
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly y: (value: number) => number;
  /** The middle of the label of a moment, so that the edge of the picture does not cut it. */
  readonly labelX: (at: number) => number;
  readonly x: (index: number) => number;
  /** The moment next to a place on the chart. */
  readonly indexAt: (place: number) => number;
}

interface Space {
  readonly width: number;
  readonly height: number;
  readonly isStacked: boolean;
}

const margin = { left: 44, right: 14, top: 10, bottom: 26 };
/** Px between two labels of the time axis, at least. */
const timeLabelWidth = 90;
/** Half of the longest label, such as 12:00:30. */
const timeLabelHalf = 26;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Steps that people count in. */
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 7_200, 10_080, 43_200].map(
    (minutes) => minutes * minuteMs,
  ),
];

/** Undefined where there is nothing to draw, or no room. */
export function layOut(series: readonly TimeSeries[], { width, height, isStacked }: Space): Layout | undefined {
  const times = (series[0]?.points ?? []).map(([at]) => Date.parse(at));
  const [first, last] = [times[0], times.at(-1)];
  const [left, right, top, bottom] = [margin.left, width - margin.right, margin.top, height - margin.bottom];
  if (first === undefined || last === undefined || right <= left) return undefined;
  const span = Math.max(1, last - first);
  const { layers, most } = stack(series, isStacked);
  const valueTicks = ticksTo(most);
  const ceiling = valueTicks.at(-1) ?? 1;
  const xOf = (at: number) => left + ((at - first) / span) * (right - left);
  const x = (index: number) => xOf(times[index] ?? last);
  const y = (value: number) => bottom - (value / ceiling) * (bottom - top);
  return {
    times,
    valueTicks,
    left,
    right,
    top,
    bottom,
    x,
    labelX: (at) => Math.min(xOf(at), width - timeLabelHalf),
    y,
    timeTicks: timeTicks(first, last, (right - left) / timeLabelWidth),
    shapes: layers.map(({ name, token, values, base, tops }) => ({
      name,
      token,
      values,
      ...paths(isStacked ? tops.map((value, index) => ({ x: x(index), y: y(value) })) : stepped(tops, x, y), base, {
        x,
        y,
        isStacked,
      }),
    })),
    indexAt: (place) => nearest(times, first + ((place - left) / (right - left)) * span),
  };
}

interface Layer extends Pick<Shape, 'name' | 'token' | 'values'> {
  readonly base: readonly number[];
  readonly tops: readonly number[];
}

function stack(
  series: readonly TimeSeries[],
  isStacked: boolean,
): { readonly layers: readonly Layer[]; readonly most: number } {
  let floor: readonly number[] = [];
  const layers = series.map(({ name, token, points }) => {
    const values = points.map(([, value]) => value);
    const base = values.map((_, index) => (isStacked ? (floor[index] ?? 0) : 0));
    const tops = values.map((value, index) => value + (base[index] ?? 0));
    floor = tops;
    return { name, token, values, base, tops };
  });
  return { layers, most: Math.max(1, ...layers.flatMap(({ tops }) => tops)) };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** A count holds until the next one: no slope pretends that it was in between. */
function stepped(
  values: readonly number[],
  x: (index: number) => number,
  y: (value: number) => number,
): readonly Place[] {
  return values.flatMap((value, index) =>
    index === 0
      ? [{ x: x(index), y: y(value) }]
      : [
          { x: x(index), y: y(values[index - 1] ?? 0) },
          { x: x(index), y: y(value) },
        ],
  );
}

interface Scales {
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly isStacked: boolean;
}

function paths(
  upper: readonly Place[],
  base: readonly number[],
  { x, y, isStacked }: Scales,
): Pick<Shape, 'line' | 'area'> {
  const line = `M${upper.map(written).join('L')}`;
  const lower = isStacked
    ? base.map((value, index) => ({ x: x(index), y: y(value) }))
    : [0, base.length - 1].map((index) => ({ x: x(index), y: y(0) }));
  return { line, area: `${line}L${lower.reverse().map(written).join('L')}Z` };
}

function written({ x, y }: Place): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}

/**
 * Zero to the first round number that is not below `most`, in two to four steps. Values are counts,
 * so a step is a whole number.
 */
function ticksTo(most: number): readonly number[] {
  const magnitude = 10 ** Math.floor(Math.log10(most));
  const steps = [0.25, 0.5, 1, 2, 2.5, 5].map((factor) => Math.max(1, factor * magnitude)).filter(Number.isInteger);
  const step = steps.find((size) => most / size <= 4) ?? magnitude * 5;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
}

/** At round times of the viewer's zone, also after its clocks have changed in between. */
function timeTicks(first: number, last: number, countMax: number): readonly number[] {
  const step = timeSteps.find((size) => (last - first) / size <= countMax) ?? last - first;
  const zoneMs = zoneMsAt(first);
  const start = Math.ceil((first - zoneMs) / step) * step + zoneMs;
  // One more than fits: clocks that go forward draw the others nearer.
  const count = Math.max(0, Math.floor((last - start) / step) + 2);
  const ticks = Array.from({ length: count }, (_, index) => start + index * step);
  // The hours themselves stay round.
  const moved = step > hourMs ? ticks.map((at) => at + zoneMsAt(at) - zoneMs) : ticks;
  return moved.filter((at) => at <= last);
}

/** How far the clocks of the viewer's zone are behind UTC, ms. */
function zoneMsAt(at: number): number {
  return new Date(at).getTimezoneOffset() * minuteMs;
}

function nearest(times: readonly number[], at: number): number {
  let best = 0;
  times.forEach((time, index) => {
    if (Math.abs(time - at) < Math.abs((times[best] ?? 0) - at)) best = index;
  });
  return best;
}
