/** Rows of the tables of alerts, as SQL and Prisma return them. */
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

export function toRule({ devices, kind, severity, ...row }: AlertRule): AlertRuleRow {
  return {
    ...plainRow(row),
    devices: (devices ?? undefined) as DeviceFilter | undefined,
    kind: kind as AlertKind,
    severity: severity as AlertSeverity,
    revision: String(row.updatedAt.getTime()),
  };
}

/** The columns of a ChannelRow. */
export const CHANNEL_SHOWN = {
  ...{ id: true, name: true, kind: true, config: true, enabled: true },
  ...{ createdAt: true, updatedAt: true, failingSince: true, lastError: true },
} as const;

export function toChannel({ kind, config, ...row }: Pick<NotificationChannel, keyof typeof CHANNEL_SHOWN>): ChannelRow {
  return { ...plainRow(row), kind: kind as ChannelKind, config: config as ChannelConfig };
}
