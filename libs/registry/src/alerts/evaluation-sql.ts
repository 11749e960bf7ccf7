/** The statements of an evaluation. Times are of the process that evaluates. */
import { bind } from '../database/sql-parameters.js';
import type { Statement } from '../database/database.js';
import type { ConditionSource } from './condition-sources.js';

/** The most conditions that one statement begins. The rest begin in the next evaluation. */
const BEGIN_MAX = 50_000;

/** Brings the stored conditions of a rule up to date: begun, begun again, ended. */
export function syncConditions(
  ruleId: string,
  { holding, detail }: ConditionSource,
  now: number,
): { readonly statement: Statement; readonly values: unknown[] } {
  const values: unknown[] = [];
  const rule = `${bind(values, ruleId)}::uuid`;
  const at = `to_timestamp(${bind(values, now)}::float8 / 1000)`;
  const isHeld = 'EXISTS (SELECT FROM holding h WHERE h.subject = c.subject)';
  const text = `
    WITH holding AS MATERIALIZED (${holding(values)}),
    began AS (
      INSERT INTO alert_condition (rule_id, subject, device_id, began_at, by_hub, facts)
      SELECT ${rule}, h.subject, h.device_id, least(x.since, ${at}), x.by_hub, jsonb_strip_nulls(x.facts)
      FROM holding h CROSS JOIN LATERAL (${detail(values)}) x
      WHERE h.is_sure
        AND NOT EXISTS (SELECT FROM alert_condition c WHERE c.rule_id = ${rule} AND c.subject = h.subject)
      LIMIT ${BEGIN_MAX} ON CONFLICT DO NOTHING RETURNING 1),
    again AS (
      UPDATE alert_condition c SET cleared_at = NULL FROM holding h
      WHERE c.rule_id = ${rule} AND c.subject = h.subject AND h.is_sure AND c.cleared_at > to_timestamp(0) RETURNING 1),
    renewed AS (
      DELETE FROM alert_condition c USING holding h WHERE c.rule_id = ${rule} AND c.subject = h.subject
        AND c.alert_id IS NULL AND h.renewed_at > c.began_at RETURNING 1),
    ended AS (
      DELETE FROM alert_condition c WHERE c.rule_id = ${rule} AND c.alert_id IS NULL AND NOT ${isHeld} RETURNING 1),
    cleared AS (
      UPDATE alert_condition c SET cleared_at = ${at}
      WHERE c.rule_id = ${rule} AND c.alert_id IS NOT NULL AND c.cleared_at IS NULL AND NOT ${isHeld} RETURNING 1)
    SELECT (SELECT count(*) FROM began)::int AS began, (SELECT count(*) FROM ended)::int AS ended`;
  return { statement: { text }, values };
}

/**
 * $1 rule. Ends all conditions of a rule that is disabled, deleted or about something else. Those
 * that fired count as cleared long ago: their alerts resolve at once, and no device joins them.
 */
export const END_CONDITIONS = {
  text: `WITH ended AS (DELETE FROM alert_condition WHERE rule_id = $1 AND alert_id IS NULL),
         closed AS (UPDATE alert SET group_until = NULL
           WHERE rule_id = $1 AND resolved_at IS NULL AND group_until IS NOT NULL)
         UPDATE alert_condition SET cleared_at = to_timestamp(0) WHERE rule_id = $1 AND alert_id IS NOT NULL`,
};

/** $1 the process, $2 now (ms), $3 ms until the lease ends. Returns a row for the holder. */
export const TAKE_EVALUATION = {
  name: 'take-alert-evaluation',
  text: `INSERT INTO alert_evaluator AS e (is_only, process_id, until)
         VALUES (true, $1, to_timestamp(($2::float8 + $3::float8) / 1000))
         ON CONFLICT (is_only) DO UPDATE SET process_id = excluded.process_id, until = excluded.until
         WHERE e.process_id = $1 OR e.until < to_timestamp($2::float8 / 1000)
           OR NOT EXISTS (SELECT FROM hub_process p WHERE p.id = e.process_id AND p.lease_until > now())
         RETURNING 1`,
};
/**
 * Finds no row once another process evaluates. Its lock keeps others from taking over before the
 * commit.
 */
export const FENCE = {
  name: 'fence-alert-evaluation',
  text: 'SELECT FROM alert_evaluator WHERE process_id = $1 FOR UPDATE',
};

/** The start of the oldest gateway that lives; without one, everything is within the grace time. */
export const HUB_START = {
  name: 'start-of-hub',
  text: `SELECT min(started_at) AS "startedAt" FROM hub_process
         WHERE lease_until > now() AND (roles = '{}' OR 'gateway' = ANY (roles))`,
};

/** $1 rule, $2 now (ms), $3 forSeconds. Conditions that may fire now. */
export const WAITING = {
  text: `SELECT c.subject, c.device_id AS "deviceId", c.began_at AS "beganAt", c.by_hub AS "byHub", c.facts
         FROM alert_condition c WHERE c.rule_id = $1 AND c.alert_id IS NULL
           AND c.began_at <= to_timestamp($2::float8 / 1000 - $3::float8) ORDER BY c.began_at LIMIT 100000`,
};
/** $1 rule, $2 from (ms), $3 now (ms). Conditions that END_CONDITIONS ended do not count. */
export const RECENT = {
  text: `SELECT (SELECT count(*) FROM alert_condition c WHERE c.rule_id = $1 AND c.alert_id IS NOT NULL
             AND c.fired_at > to_timestamp($2::float8 / 1000)
             AND c.cleared_at IS DISTINCT FROM to_timestamp(0))::int AS "firedRecently",
           g.id AS "alertId", g.group_until AS until
         FROM (SELECT 1) one LEFT JOIN LATERAL (SELECT a.id, a.group_until FROM alert a
           WHERE a.rule_id = $1 AND a.resolved_at IS NULL AND a.group_until >= to_timestamp($3::float8 / 1000)
           ORDER BY a.id DESC LIMIT 1) g ON true`,
};
/**
 * $1 rule, $2 now (ms), $3 forSeconds. All fired conditions of alerts with one that may be over.
 */
export const FIRED = {
  text: `SELECT c.subject, c.alert_id AS "alertId", c.cleared_at AS "clearedAt" FROM alert_condition c
         WHERE c.alert_id IN (SELECT o.alert_id FROM alert_condition o WHERE o.rule_id = $1
           AND o.alert_id IS NOT NULL AND o.cleared_at <= to_timestamp($2::float8 / 1000 - $3::float8))`,
};
/**
 * $1 rule, $2 now (ms), $3 seconds between two messages. The next time of an alert is that of the
 * rule as it was: it may not have repeated, or less often.
 */
export const REPEATING = {
  text: `SELECT a.id FROM alert a WHERE a.rule_id = $1 AND a.resolved_at IS NULL AND a.acknowledged_at IS NULL
           AND (a.repeat_at <= to_timestamp($2::float8 / 1000)
             OR (coalesce(a.repeat_at > to_timestamp($2::float8 / 1000 + $3::float8), true)
               AND a.fired_at <= to_timestamp($2::float8 / 1000 - $3::float8)))`,
};
/** $1 rule, $2 now (ms). */
export const SNOOZED = {
  text: 'SELECT device_id AS id FROM alert_snooze WHERE rule_id = $1 AND until > to_timestamp($2::float8 / 1000)',
};
/** $1 alerts. */
export const SENT = {
  text: `SELECT n.alert_id AS "alertId", n.channel_id AS "channelId", n.kind,
           CASE WHEN n.delivered_at IS NOT NULL THEN 'DELIVERED' WHEN n.given_up_at IS NOT NULL THEN 'GIVEN_UP'
                ELSE 'WAITING' END AS state
         FROM notification n WHERE n.alert_id = ANY ($1::uuid[])`,
};
/** $1 alerts. The devices that resolving a group is about. */
export const MEMBERS = {
  text: 'SELECT alert_id AS "alertId", device_id AS "deviceId" FROM alert_device WHERE alert_id = ANY ($1::uuid[])',
};

/** $1 alerts as rows. */
export const ADD_ALERTS = {
  text: `INSERT INTO alert (id, rule_id, severity, device_id, is_group, device_count, facts, fired_at, group_until,
           repeat_at)
         SELECT i.id, i.rule_id, i.severity, i.device_id, i.is_group, i.device_count, i.facts, i.fired_at,
           i.group_until, i.repeat_at
         FROM json_to_recordset($1::json) AS i(id uuid, rule_id uuid, severity text, device_id text, is_group boolean,
           device_count int, facts jsonb, fired_at timestamptz, group_until timestamptz, repeat_at timestamptz)`,
};
/** $1 rule, $2 alert, $3 now (ms), $4 subjects. */
export const FIRE = {
  text: `WITH fired AS (
           UPDATE alert_condition c SET alert_id = $2::uuid, fired_at = to_timestamp($3::float8 / 1000)
           WHERE c.rule_id = $1::uuid AND c.subject = ANY ($4::text[]) RETURNING c.device_id, c.began_at)
         INSERT INTO alert_device (alert_id, device_id, began_at)
         SELECT $2::uuid, f.device_id, f.began_at FROM fired f WHERE f.device_id IS NOT NULL
         ON CONFLICT (alert_id, device_id) DO UPDATE SET cleared_at = NULL`,
};
/** $1 alert, $2 last beginning (ms). After further devices joined. */
export const GROW = {
  text: `UPDATE alert a SET device_count = (SELECT count(*) FROM alert_device m WHERE m.alert_id = a.id),
           facts = a.facts || jsonb_build_object('beganTo', greatest((a.facts->>'beganTo')::float8, $2::float8))
         WHERE a.id = $1::uuid`,
};
/** $1 rule, $2 subjects. */
export const END_FIRED = {
  text: `WITH ended AS (DELETE FROM alert_condition WHERE rule_id = $1 AND subject = ANY ($2::text[])
           RETURNING alert_id, device_id, cleared_at)
         UPDATE alert_device m SET cleared_at = e.cleared_at FROM ended e
         WHERE m.alert_id = e.alert_id AND m.device_id = e.device_id`,
};
/** $1 alerts, $2 now (ms). */
export const RESOLVE = {
  text: `UPDATE alert SET resolved_at = to_timestamp($2::float8 / 1000), repeat_at = NULL, group_until = NULL
         WHERE id = ANY ($1::uuid[])`,
};
/** $1 alerts, $2 the next time (ms). */
export const REPEAT_LATER = {
  text: 'UPDATE alert SET repeat_at = to_timestamp($2::float8 / 1000) WHERE id = ANY ($1::uuid[])',
};
/** $1 rows. Disabled channels get only those that are RESOLVED. */
export const NOTIFY = {
  text: `INSERT INTO notification (id, alert_id, channel_id, kind, created_at)
         SELECT i.id, i.alert_id, i.channel_id, i.kind, i.created_at
         FROM json_to_recordset($1::json) AS i(id uuid, alert_id uuid, channel_id uuid, kind text,
           created_at timestamptz)
         JOIN notification_channel n ON n.id = i.channel_id AND (n.enabled OR i.kind = 'RESOLVED')`,
};
