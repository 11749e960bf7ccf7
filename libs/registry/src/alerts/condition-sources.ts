/** The SQL of each kind of rule: for which subjects its condition holds now. */
import { outOfSyncStates } from '@flotilla/desired-state';
import type { HubStart } from '@flotilla/signals';
import { bind } from '../database/sql-parameters.js';
import { lowestUuidOf } from '../database/uuid-v7.js';
import { IS_ONLINE } from '../devices/device-condition.js';
import type { AlertRuleRow } from './alert.js';

/** A part of a statement; it binds its parameters. */
export type SqlPart = (parameters: unknown[]) => string;

export interface ConditionSource {
  /**
   * Selects subject, device_id, is_sure and renewed_at. An unsure row neither begins nor ends a
   * condition; a condition from before renewed_at began again.
   */
  readonly holding: SqlPart;
  /** Selects since, by_hub and facts of a row `h` of `holding`, for conditions that begin. */
  readonly detail: SqlPart;
}

/** A subject for which the condition holds, found without SQL. */
export interface HeldSubject {
  readonly subject: string;
  readonly deviceId?: string | undefined;
  readonly isSure?: boolean;
  /** Ms since the Unix epoch; undefined: now. */
  readonly since?: number | undefined;
  readonly facts: Readonly<Record<string, unknown>>;
}

const none = 'NULL::timestamptz AS renewed_at';
const atMs = (parameters: unknown[], at: number) => `to_timestamp(${bind(parameters, at)}::float8 / 1000)`;

/** Close reasons of sessions that the hub ended by its stop or its death. */
export const BY_HUB = `('hub_stopping', 'hub_crashed')`;
/** The time in a UUIDv7, whose first 48 bits are ms. */
export const timeIn = (id: string) =>
  `to_timestamp(('x' || left(replace(${id}, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

/**
 * Devices that had a session and have none. Those that connect for conversations only are left out.
 */
export const LOST_DEVICE = `NOT ${IS_ONLINE} AND d.connected_at IS NOT NULL AND d.reachability = 'ALWAYS'`;

/** Since when `device d` is offline, and whether because of the hub. */
export const OFFLINE_SINCE = `
  SELECT CASE WHEN d.online THEN p.lease_until ELSE coalesce(s.disconnected_at, s.connected_at) END AS since,
    d.online OR coalesce(s.close_reason IN ${BY_HUB}, false) AS by_hub
  FROM (SELECT 1) one
  LEFT JOIN LATERAL (SELECT s.connected_at, s.disconnected_at, s.close_reason FROM session s
    WHERE s.device_id = d.id ORDER BY s.epoch DESC LIMIT 1) s ON true
  LEFT JOIN hub_process p ON p.id = d.gateway_id`;

/** Whether the stop of the hub disconnected the device of `o`, OFFLINE_SINCE, and it may return. */
export const isReturning =
  ({ startedAt, graceMs }: HubStart, now: number): SqlPart =>
  (parameters) => `(o.by_hub AND greatest(o.since, ${atMs(parameters, startedAt)})
    + ${bind(parameters, graceMs)}::float8 * interval '1 millisecond' > ${atMs(parameters, now)})`;

export function offlineDevices(condition: SqlPart): ConditionSource {
  return {
    holding: (parameters) => `SELECT d.id AS subject, d.id AS device_id, true AS is_sure,
        d.tools_discovered_at AS renewed_at FROM device d WHERE ${LOST_DEVICE} AND ${condition(parameters)}`,
    detail: () => `SELECT coalesce(o.since, d.last_seen_at, d.connected_at) AS since, o.by_hub, '{}'::jsonb AS facts
      FROM device d CROSS JOIN LATERAL (${OFFLINE_SINCE}) o WHERE d.id = h.device_id`,
  };
}

/** A desired state applies, and the device differs. Some states stay so while it is offline. */
const DIFFERS = `t.state IN (${outOfSyncStates
  .filter((state) => state !== 'WAITING_DEVICE')
  .map((state) => `'${state}'`)
  .join(', ')})`;

/**
 * Devices that are online and not as a desired state says, from when they are both. Those offline
 * have another rule. Unsure while a device may still return after a stop of the hub.
 */
export function devicesOutOfSync(condition: SqlPart, hub: HubStart, now: number): ConditionSource {
  return {
    holding: (parameters) => `SELECT d.id AS subject, d.id AS device_id, ${IS_ONLINE} AS is_sure, ${none} FROM device d
      WHERE EXISTS (SELECT FROM desired_state_target t WHERE t.device_id = d.id AND ${DIFFERS})
        AND (${IS_ONLINE} OR EXISTS (SELECT FROM (${OFFLINE_SINCE}) o WHERE ${isReturning(hub, now)(parameters)}))
        AND ${condition(parameters)}`,
    detail: () => `SELECT greatest(min(t.since), max(d.connected_at)) AS since, false AS by_hub,
        jsonb_build_object('reason', string_agg(s.name || ' (' || t.state || ')', ', ' ORDER BY s.name)) AS facts
      FROM desired_state_target t JOIN desired_state s ON s.id = t.desired_state_id JOIN device d ON d.id = t.device_id
      WHERE t.device_id = h.device_id AND ${DIFFERS}`,
  };
}

/** Devices that are there, with at least `threshold` events of a type in the window. */
export function countedEvents(
  { threshold, windowSeconds }: Pick<AlertRuleRow, 'threshold' | 'windowSeconds'>,
  type: string,
  condition: SqlPart,
  now: number,
): ConditionSource {
  const from = now - windowSeconds * 1_000;
  const own = (parameters: unknown[]) =>
    `AND EXISTS (SELECT FROM device d WHERE d.id = e.device_id AND ${condition(parameters)})`;
  const events = (parameters: unknown[]) =>
    `FROM event e WHERE e.type = ${bind(parameters, type)} AND e.id >= ${bind(parameters, lowestUuidOf(from))}::uuid`;
  return {
    holding: (parameters) => `SELECT e.device_id AS subject, e.device_id, true AS is_sure, ${none}
      ${events(parameters)} AND e.device_id IS NOT NULL ${own(parameters)}
      GROUP BY e.device_id HAVING count(*) >= ${bind(parameters, threshold ?? 1)}::float8`,
    detail: (parameters) => `SELECT ${timeIn('max(e.id::text)')} AS since, false AS by_hub,
        jsonb_build_object('value', count(*), 'reason', (array_agg(e.data->>'reason' ORDER BY e.id DESC))[1]) AS facts
      ${events(parameters)} AND e.device_id = h.device_id`,
  };
}

/** Whether a device of the rule is a target of `job j`: a further condition of a statement. */
export function jobHas(devices: AlertRuleRow['devices'], condition: SqlPart): SqlPart {
  if (devices === undefined) return () => '';
  return (parameters) => `AND EXISTS (SELECT FROM job_target t JOIN device d ON d.id = t.device_id
    WHERE t.job_id = j.id AND ${condition(parameters)})`;
}

/** A job keeps its latest tripped rule: only one that cancels has ended the job. */
const STOPPED_BY_GATE = `(j.pause_reason::text = 'HEALTH_GATE' OR (j.state <> 'PAUSED'
  AND j.tripped_health_gate IS NOT NULL AND j.tripped_rule->'rule'->>'action' IS DISTINCT FROM 'CANCEL'))`;
/** What stopped it. A job keeps both, also after it was resumed. */
const TRIPPED = `(CASE WHEN ${STOPPED_BY_GATE} THEN j.tripped_health_gate ELSE j.tripped_rule END)`;

/**
 * Jobs that a rule stopped: paused until a person decides, ending, which takes as long as their
 * calls and verifications, or ended within the window.
 */
export function stoppedJobs(
  { windowSeconds, devices }: Pick<AlertRuleRow, 'windowSeconds' | 'devices'>,
  condition: SqlPart,
  now: number,
): ConditionSource {
  const own = jobHas(devices, condition);
  return {
    holding: (parameters) => `SELECT j.id::text AS subject, NULL::text AS device_id, true AS is_sure, ${none}
      FROM job j WHERE ((j.state = 'PAUSED' AND j.pause_reason::text IN ('ABORT_RULE', 'HEALTH_GATE'))
        OR (j.conclusion = 'ABORTED' AND (j.state = 'CANCELLING'
          OR j.finished_at > ${atMs(parameters, now - windowSeconds * 1_000)}))) ${own(parameters)}`,
    detail: (parameters) => `SELECT
        coalesce(j.finished_at, to_timestamp((${TRIPPED}->>'at')::float8 / 1000), ${atMs(parameters, now)}) AS since,
        false AS by_hub, jsonb_build_object('label', coalesce(j.name, j.tool, j.id::text), 'jobId', j.id,
          'reason', CASE WHEN ${STOPPED_BY_GATE} THEN 'health gate'
            WHEN ${TRIPPED} IS NULL THEN 'image without a valid signature' ELSE 'abort rule' END) AS facts
      FROM job j WHERE j.id = h.subject::uuid`,
  };
}

/**
 * Enabled webhooks whose deliveries fail, and those that the hub paused. The address may have a
 * token.
 */
export function failingWebhooks(): ConditionSource {
  return {
    holding: () => `SELECT w.id::text AS subject, NULL::text AS device_id, true AS is_sure, ${none}
      FROM webhook w WHERE (w.enabled AND w.failing_since IS NOT NULL) OR w.paused_at IS NOT NULL`,
    detail: () => `SELECT coalesce(w.failing_since, w.paused_at) AS since, false AS by_hub,
        jsonb_build_object('label', substring(w.url from '^[a-z]+://([^/?#]+)')) AS facts
      FROM webhook w WHERE w.id = h.subject::uuid`,
  };
}

/** Subjects that the caller found. */
export function givenSubjects(held: readonly HeldSubject[], now: number): ConditionSource {
  const rows = JSON.stringify(
    held.map(({ subject, deviceId, isSure = true, since, facts }) => ({
      subject,
      device_id: deviceId,
      is_sure: isSure,
      since: since ?? now,
      facts,
    })),
  );
  const given = (parameters: unknown[]) => `json_to_recordset(${bind(parameters, rows)}::json) AS g(
    subject text, device_id text, is_sure boolean, since float8, facts jsonb)`;
  return {
    holding: (parameters) => `SELECT g.subject, g.device_id, g.is_sure, ${none} FROM ${given(parameters)}`,
    detail: (parameters) => `SELECT to_timestamp(g.since / 1000) AS since, false AS by_hub, g.facts
      FROM ${given(parameters)} WHERE g.subject = h.subject`,
  };
}
