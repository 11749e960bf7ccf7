/** The lines of the chart as a CSV file, a row per point. */
import { stringify } from 'csv-stringify/browser/esm/sync';
import type { FleetLine } from './fleet-lines';

/** Names come from devices and people: they are no formulas for the program that opens them. */
export function csvOf(path: string, lines: readonly Pick<FleetLine, 'name' | 'points'>[]): string {
  const rows = lines.flatMap(({ name, points }) =>
    points.map(({ at, min, mean, max, p95, deviceCount }) => [path, name, at, min, mean, max, p95, deviceCount]),
  );
  const columns = ['path', 'of', 'at', 'min', 'mean', 'max', 'p95', 'devices'];
  return stringify(rows, { header: true, columns, escape_formulas: true });
}
