/**
 * The rows of a chart as SQL: points, or roll-ups with the points that are not rolled up yet, so
 * that a series has one row for each hour or day.
 * Columns: at, device_id, path_id, count, min, mean, max.
 */
import type { SeriesLevel } from '@flotilla/signals';
import { bind } from '../database/sql-parameters.js';
import type { Progress } from './measurement-upkeep.js';

interface SourceSpan {
  readonly level: SeriesLevel;
  readonly since: number;
  readonly until: number;
  readonly progress: Progress | undefined;
  /** Real numbers of roll-ups as the decimals that were reported. Costs 0.4 µs per row. */
  readonly asDecimals: boolean;
}

const DAY_MS = 86_400_000;

/** `condition` is over `m.device_id` and `m.path_id`, and stays inside each part for its index. */
export function seriesSource(
  { level, since, until, progress, asDecimals }: SourceSpan,
  condition: string,
  parameters: unknown[],
): string {
  const time = (ms: number) => `${bind(parameters, new Date(ms))}::timestamptz`;
  const span = (from: number, to: number) => `m.at >= ${time(from)} AND m.at < ${time(to)} AND ${condition}`;
  const points = (from: number) =>
    `SELECT m.at, m.device_id, m.path_id, 1 AS count, m.value AS min, m.value AS mean, m.value AS max
     FROM measurement m WHERE ${span(Math.max(since, from), until)}`;
  const columns = ['min', 'mean', 'max'].map((name) => (asDecimals ? `m.${name}::text::float8` : `m.${name}`));
  const rollUps = (table: string, from: number, to: number) =>
    `SELECT m.at, m.device_id, m.path_id, m.count, ${columns.join(', ')} FROM ${table} m WHERE ${span(from, to)}`;
  if (level === 'RAW') return [points(since), packed({ since, until }, condition, parameters)].join(' UNION ALL ');
  const hoursUntil = progress?.hoursUntil ?? since;
  if (level === 'HOUR') {
    const hours = rollUps('measurement_hour', since, Math.min(until, hoursUntil));
    return `${hours} UNION ALL ${combined('hour', points(hoursUntil))}`;
  }
  const daysUntil = hoursUntil - (hoursUntil % DAY_MS);
  const days = rollUps('measurement_day', since - (since % DAY_MS), Math.min(until, daysUntil));
  const hours = rollUps('measurement_hour', Math.max(since, daysUntil), Math.min(until, hoursUntil));
  return `${days} UNION ALL ${combined('day', `${hours} UNION ALL ${points(hoursUntil)}`)}`;
}

/** One row for each hour or day of a series, as roll-ups have it. */
function combined(unit: 'hour' | 'day', rows: string): string {
  return `SELECT date_trunc('${unit}', t.at, 'UTC'), t.device_id, t.path_id, sum(t.count)::int, min(t.min),
    sum(t.mean * t.count) / sum(t.count), max(t.max) FROM (${rows}) t GROUP BY 1, 2, 3`;
}

function packed(
  { since, until }: { readonly since: number; readonly until: number },
  condition: string,
  parameters: unknown[],
): string {
  const time = (ms: number) => `${bind(parameters, new Date(ms))}::timestamptz`;
  return `SELECT p.at, m.device_id, m.path_id, 1, p.value, p.value, p.value FROM measurement_pack m
    CROSS JOIN LATERAL (
      SELECT m.at + u.ms * interval '1 millisecond' AS at, u.value FROM unnest(m.offsets, m.values) AS u(ms, value)) p
    WHERE m.at >= ${time(since - (since % DAY_MS))} AND m.at < ${time(until)} AND ${condition}
      AND p.at >= ${time(since)} AND p.at < ${time(until)}`;
}
