/** Rows of the tables of alerts, as SQL and Prisma return them. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@flotilla/mcp';
import type { AlertFacts, AlertKind, AlertSeverity } from '@flotilla/signals';
import { plainRow } from '../database/plain-row.js';
import type { DeviceFilter } from '../device-filter.js';
import type { Alert, AlertRule, NotificationChannel } from '../generated/prisma/client.js';
import type { AlertRow, AlertRuleRow, ChannelConfig, ChannelKind, ChannelRow } from './alert.js';

/** The columns of an AlertRow over `alert a`. */
export const ALERT_COLUMNS = `a.id, a.rule_id AS "ruleId", a.severity, a.device_id AS "deviceId",
  a.is_group AS "isGroup", a.device_count AS "deviceCount", a.facts, a.fired_at AS "firedAt",
  a.resolved_at AS "resolvedAt", a.acknowledged_by AS "acknowledgedBy", a.acknowledged_at AS "acknowledgedAt", a.note`;

export type AlertRecord = Omit<Alert, 'groupUntil' | 'repeatAt'>;

export function toAlert({ facts, severity, ...row }: AlertRecord): AlertRow {
  return { ...plainRow(row), facts: facts as unknown as AlertFacts, severity: severity as AlertSeverity };
}

export function toRule(rule: AlertRule): AlertRuleRow {
  const { devices, kind, severity, ...row } = rule;
  return {
    ...plainRow(row),
    devices: (devices ?? undefined) as DeviceFilter | undefined,
    kind: kind as AlertKind,
    severity: severity as AlertSeverity,
    revision: revisionOf(rule),
  };
}

/** A channel that is created or deleted changes rules, too, but not their time. */
function revisionOf(rule: AlertRule): string {
  const asEdited = { ...rule, snoozedUntil: null };
  return createHash('sha256').update(canonicalJson(asEdited)).digest('hex');
}

/** The columns of a ChannelRow. */
export const CHANNEL_SHOWN = {
  id: true,
  name: true,
  kind: true,
  config: true,
  enabled: true,
  createdAt: true,
  updatedAt: true,
  failingSince: true,
  lastError: true,
} as const;

export function toChannel({ kind, config, ...row }: Pick<NotificationChannel, keyof typeof CHANNEL_SHOWN>): ChannelRow {
  return {
    ...plainRow(row),
    kind: kind as ChannelKind,
    config: config as ChannelConfig,
    revision: String(row.updatedAt.getTime()),
  };
}
