/** Rows of webhooks, attempts and claimed debts, as they are read. */
import type { DeviceId } from '@flotilla/mcp';
import { timeOfUuid } from '../database/uuid-v7.js';
import type { OwedEvent, WebhookDeliveryRow, WebhookRow } from '../webhook-store.js';

export const WEBHOOK_COLUMNS = 'w.id, w.url, w.types, w.enabled, w.created_at, w.failing_since, w.paused_at';

export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly enabled: boolean;
  readonly created_at: Date;
  readonly failing_since: Date | null;
  readonly paused_at: Date | null;
}

export function toWebhook({ id, url, types, enabled, ...times }: WebhookRecord): WebhookRow {
  return {
    ...{ id, url, types, enabled },
    createdAt: times.created_at.getTime(),
    failingSince: times.failing_since?.getTime(),
    pausedAt: times.paused_at?.getTime(),
  };
}

export interface DeliveryRecord {
  readonly webhook_id: string;
  readonly id: string;
  readonly event_id: string;
  readonly attempt: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly at: Date;
  readonly delivered: boolean;
}

export function toDelivery({
  id,
  event_id: eventId,
  attempt,
  status,
  error,
  at,
  delivered,
}: DeliveryRecord): WebhookDeliveryRow {
  return { id, eventId, attempt, status: status ?? undefined, error: error ?? undefined, at: at.getTime(), delivered };
}

export interface OwedRecord {
  readonly webhook_id: string;
  readonly url: string;
  readonly secret: string;
  readonly event_id: string;
  readonly attempts: number;
  readonly owed_at: Date;
  readonly type: string | null;
  readonly device_id: string | null;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export function toOwed(record: OwedRecord): OwedEvent {
  const { webhook_id: webhookId, url, secret, event_id: eventId, attempts: attempt, type, data } = record;
  const deviceId = (record.device_id ?? undefined) as DeviceId | undefined;
  const event =
    type === null || data === null ? undefined : { id: eventId, type, deviceId, at: timeOfUuid(eventId), data };
  return { webhookId, url, secret, eventId, event, attempt, owedAt: record.owed_at.getTime() };
}
