/** A small chart without axes. */
import classes from './chart.module.css';
import { sparkline } from './sparkline';
import type { SparkPoint } from './sparkline';

const [width, height] = [200, 36];

export function Spark({ points }: { readonly points: readonly SparkPoint[] }) {
  return (
    <svg className={classes.spark} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden>
      <polyline points={sparkline(points, width, height)} />
    </svg>
  );
}
