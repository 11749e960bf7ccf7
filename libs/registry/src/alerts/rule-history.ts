/** When a rule would have fired in the past, as far as stored records tell. */
import type { AlertKind } from '@flotilla/signals';
import type { Queryable } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import { lowestUuidOf } from '../database/uuid-v7.js';
import type { AlertRulePlan } from './alert.js';
import { BY_HUB, timeIn, type SqlPart } from './condition-sources.js';

export interface HistoryRequest {
  readonly plan: Pick<AlertRulePlan, 'kind' | 'devices' | 'forSeconds' | 'threshold' | 'windowSeconds'>;
  readonly condition: SqlPart;
  readonly since: number;
  readonly now: number;
  /** How long devices may take to return after a stop of the hub, ms. */
  readonly graceMs: number;
}

/** Times that are read; more would say nothing new. */
const TIMES_MAX = 20_000;
const eventTypes: Partial<Readonly<Record<AlertKind, string>>> = {
  UNEXPECTED_RESTARTS: 'device.restarted_unexpectedly',
  CREDENTIAL_REFUSED: 'device.auth_refused',
};

/** Ms since the Unix epoch, in order; undefined where no records tell. */
export async function firingTimes(db: Queryable, request: HistoryRequest): Promise<readonly number[] | undefined> {
  const values: unknown[] = [];
  const text = textOf(request, values);
  if (text === undefined) return undefined;
  const rows = await db.query<{ at: number }>({ text: `${text} ORDER BY at LIMIT ${TIMES_MAX}` }, values);
  return rows.map(({ at }) => at);
}

function textOf(request: HistoryRequest, values: unknown[]): string | undefined {
  const { plan, since } = request;
  if (plan.kind === 'DEVICE_OFFLINE') return offlineTimes(request, values);
  if (plan.kind === 'JOB_STOPPED')
    return `SELECT (j.tripped_rule->>'at')::float8 AS at FROM job j
      WHERE (j.tripped_rule->>'at')::float8 >= ${bind(values, since)}::float8`;
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

/** When the number of events in the window reached the threshold. */
function countedTimes({ plan, condition, since }: HistoryRequest, type: string, values: unknown[]): string {
  const { devices, forSeconds, threshold = 1, windowSeconds } = plan;
  const own =
    devices === undefined ? '' : `AND EXISTS (SELECT FROM device d WHERE d.id = e.device_id AND ${condition(values)})`;
  const before = Math.max(0, Math.min(Math.ceil(threshold) - 1, TIMES_MAX));
  return `SELECT (extract(epoch FROM counted.at) * 1000)::float8 AS at FROM (
      SELECT q.at,
        q.reached AND NOT coalesce(lag(q.reached) OVER (PARTITION BY q.device_id ORDER BY q.at), false) AS began
      FROM (SELECT e.device_id, e.at, coalesce(e.at - lag(e.at, ${before}) OVER (PARTITION BY e.device_id ORDER BY e.at)
              <= ${bind(values, windowSeconds)}::float8 * interval '1 second', false) AS reached
            FROM (SELECT e.device_id, ${timeIn('e.id::text')} AS at FROM event e WHERE e.type = ${bind(values, type)}
              AND e.id >= ${bind(values, lowestUuidOf(since))}::uuid AND e.device_id IS NOT NULL ${own}) e) q) counted
    WHERE counted.began AND ${bind(values, forSeconds <= windowSeconds)}::boolean`;
}
