/** When a rule would have fired in the past, as far as stored records show. */
import type { AlertKind, SeriesLevel } from '@flotilla/signals';
import type { Queryable } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import { lowestUuidOf } from '../database/uuid-v7.js';
import { readProgress, type Progress } from '../measurements/measurement-upkeep.js';
import { seriesSource } from '../measurements/series-source.js';
import type { AlertRulePlan } from './alert.js';
import { BY_HUB, jobHas, timeIn, type SqlPart } from './condition-sources.js';

export interface HistoryRequest {
  readonly plan: Pick<
    AlertRulePlan,
    'kind' | 'devices' | 'forSeconds' | 'threshold' | 'windowSeconds' | 'path' | 'below'
  >;
  readonly condition: SqlPart;
  readonly since: number;
  readonly now: number;
  /** How long devices may take to return after a stop of the hub, ms. */
  readonly graceMs: number;
  /** From which values a rule about measurements is judged. */
  readonly level: SeriesLevel;
}

/** Times that are read; more would say nothing new. */
const TIMES_MAX = 20_000;
const eventTypes: Partial<Readonly<Record<AlertKind, string>>> = {
  UNEXPECTED_RESTARTS: 'device.restarted_unexpectedly',
  CREDENTIAL_REFUSED: 'device.auth_refused',
};

/** Ms since the Unix epoch, in order; undefined where there are no records of it. */
export async function firingTimes(db: Queryable, request: HistoryRequest): Promise<readonly number[] | undefined> {
  const values: unknown[] = [];
  const progress = request.plan.kind === 'MEASUREMENT' ? await readProgress(db) : undefined;
  const text = textOf(request, progress, values);
  if (text === undefined) return undefined;
  const rows = await db.query<{ at: number }>({ text: `${text} ORDER BY at LIMIT ${TIMES_MAX}` }, values);
  return rows.map(({ at }) => at);
}

function textOf(request: HistoryRequest, progress: Progress | undefined, values: unknown[]): string | undefined {
  const { plan } = request;
  if (plan.kind === 'MEASUREMENT') return measuredTimes(request, progress, values);
  if (plan.kind === 'DEVICE_OFFLINE') return offlineTimes(request, values);
  if (plan.kind === 'JOB_STOPPED') return stoppedTimes(request, values);
  const type = eventTypes[plan.kind];
  return type === undefined ? undefined : countedTimes(request, type, values);
}

function offlineTimes({ plan, condition, since, now, graceMs }: HistoryRequest, values: unknown[]): string {
  const forMs = bind(values, plan.forSeconds * 1_000);
  const grace = `${bind(values, graceMs)}::float8`;
  const due = `${forMs}::float8 + CASE WHEN s.close_reason IN ${BY_HUB} THEN ${grace} ELSE 0 END`;
  const lostAt = 'extract(epoch FROM s.disconnected_at) * 1000';
  return `SELECT (${lostAt} + ${due})::float8 AS at FROM session s
    JOIN device d ON d.id = s.device_id AND d.reachability = 'ALWAYS' AND ${condition(values)}
    LEFT JOIN LATERAL (SELECT n.connected_at FROM session n WHERE n.device_id = s.device_id AND n.epoch > s.epoch
      ORDER BY n.epoch LIMIT 1) n ON true
    WHERE s.disconnected_at > to_timestamp(${bind(values, since)}::float8 / 1000)
      AND coalesce(extract(epoch FROM n.connected_at) * 1000, ${bind(values, now)}::float8) - ${lostAt} >= ${due}`;
}

/**
 * A job keeps when an abort rule stopped it last, and when its health gate did. One that neither
 * stopped had an image without a valid signature.
 */
function stoppedTimes({ plan, condition, since }: HistoryRequest, values: unknown[]): string {
  return `SELECT stop.at FROM job j CROSS JOIN LATERAL (VALUES
      ((j.tripped_rule->>'at')::float8), ((j.tripped_health_gate->>'at')::float8),
      (CASE WHEN j.conclusion = 'ABORTED' AND j.tripped_rule IS NULL AND j.tripped_health_gate IS NULL
        THEN (extract(epoch FROM j.finished_at) * 1000)::float8 END)) stop(at)
    WHERE stop.at >= ${bind(values, since)}::float8 ${jobHas(plan.devices, condition)(values)}`;
}

/**
 * A device that is there begins the condition with the event that fills the window, and ends it
 * once fewer events than the threshold are in the window. Earlier events may be in the window, too.
 */
function countedTimes({ plan, condition, since, now }: HistoryRequest, type: string, values: unknown[]): string {
  const { forSeconds, threshold = 1, windowSeconds } = plan;
  const others = Math.max(0, Math.min(Math.ceil(threshold) - 1, TIMES_MAX));
  const windowMs = windowSeconds * 1_000;
  const [window, forMs] = [windowMs, forSeconds * 1_000].map((ms) => `${bind(values, ms)}::float8`);
  const ms = `(extract(epoch FROM ${timeIn('e.id::text')}) * 1000)::float8`;
  const events = `SELECT e.id, e.device_id, ${ms} AS ms FROM event e
    WHERE e.type = ${bind(values, type)} AND e.id >= ${bind(values, lowestUuidOf(since - windowMs))}::uuid
      AND EXISTS (SELECT FROM device d WHERE d.id = e.device_id AND ${condition(values)})`;
  return `SELECT (began + ${forMs})::float8 AS at FROM (
      SELECT min(ms) AS began, max(until) AS ended FROM (
        SELECT device_id, ms, until, count(*) FILTER (WHERE until >= ms AND (former_until >= ms) IS NOT TRUE)
          OVER (PARTITION BY device_id ORDER BY id) AS run
        FROM (SELECT id, device_id, ms, lag(ms, ${others}) OVER each + ${window} AS until,
                lag(ms, ${others + 1}) OVER each + ${window} AS former_until
              FROM (${events}) v WINDOW each AS (PARTITION BY device_id ORDER BY id)) q) r
      WHERE until >= ms GROUP BY device_id, run) runs
    WHERE began >= ${bind(values, since)}::float8
      AND least(ended, ${bind(values, now)}::float8) - began >= ${forMs}`;
}

/**
 * A value holds until the next one, because one that stays the same is not stored again. Of a
 * roll-up the lowest or the highest value counts.
 */
function measuredTimes(
  { plan, condition, since, now, level }: HistoryRequest,
  progress: Progress | undefined,
  values: unknown[],
): string {
  const { below, forSeconds, path = '', threshold = 0 } = plan;
  const ofPath = `m.path_id = (SELECT p.id FROM measurement_path p WHERE p.path = ${bind(values, path)})`;
  const ofDevices = `m.device_id IN (SELECT v.id FROM measurement_device v JOIN device d ON d.id = v.device_id
    WHERE ${condition(values)})`;
  const source = seriesSource(
    { level, since, until: now, progress, asDecimals: true },
    `${ofPath} AND ${ofDevices}`,
    values,
  );
  const limit = `${bind(values, threshold)}::float8`;
  const forMs = `${bind(values, forSeconds * 1_000)}::float8`;
  return `SELECT (began + ${forMs})::float8 AS at FROM (
      SELECT min(ms) AS began, max(until) AS ended FROM (
        SELECT device_id, ms, is_beyond, coalesce(lead(ms) OVER each, ${bind(values, now)}::float8) AS until,
          count(*) FILTER (WHERE NOT is_beyond) OVER each AS run
        FROM (SELECT s.device_id, extract(epoch FROM s.at)::float8 * 1000 AS ms,
                ${below ? `s.min < ${limit}` : `s.max > ${limit}`} AS is_beyond FROM (${source}) s) v
        WINDOW each AS (PARTITION BY device_id ORDER BY ms)) r
      WHERE is_beyond GROUP BY device_id, run) runs
    WHERE ended - began >= ${forMs}`;
}
