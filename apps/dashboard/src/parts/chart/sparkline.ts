/** The line of a small chart as SVG points. */

export interface SparkPoint {
  readonly at: number;
  readonly value: number;
}

/** The path of a line with one unit of room at each edge of the picture; empty without points. */
export function sparkline(points: readonly SparkPoint[], width: number, height: number): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return '';
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (at: number) => (last.at === first.at ? width / 2 : ((at - first.at) / (last.at - first.at)) * width);
  const y = (value: number) => (high === low ? height / 2 : height - 1 - ((value - low) / (high - low)) * (height - 2));
  return points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
}
