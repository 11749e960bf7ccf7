/** Webhooks in PostgreSQL: few rows, changed with an entry in the audit trail. */
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange } from '../audit/audit-entry.js';
import type { Database, Queryable } from '../database/database.js';
import { grouped } from '../database/grouped.js';
import { isUuid, lowestUuidOf } from '../database/uuid-v7.js';
import { removeInBatches } from '../retention/remove-in-batches.js';
import type {
  Breaker,
  DeliveryEnd,
  OwedEvent,
  RedeliveryAnswer,
  WebhookBacklog,
  WebhookDeliveryRow,
  WebhookRow,
  WebhookStore,
} from '../webhook-store.js';
import { claimOwed, releaseOwed, settleOwed } from './owed-events.js';
import { BACKLOG, OWED_COUNTED_MAX } from './owed-statements.js';
import { toDelivery, toWebhook, WEBHOOK_COLUMNS } from './webhook-rows.js';
import type { DeliveryRecord, WebhookRecord } from './webhook-rows.js';

/** Two that are made at once must not both be the last that fits. */
const WEBHOOK_LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.webhooks'))` };

export class PgWebhookStore implements WebhookStore {
  constructor(private readonly database: Database) {}

  async all(): Promise<readonly WebhookRow[]> {
    const records = await this.database.query<WebhookRecord>(
      { text: `SELECT ${WEBHOOK_COLUMNS} FROM webhook w ORDER BY w.id` },
      [],
    );
    return records.map(toWebhook);
  }

  create(
    { url, types, enabled, secret }: Parameters<WebhookStore['create']>[0],
    { webhooksMax, at, by }: Parameters<WebhookStore['create']>[1],
  ): Promise<WebhookRow | undefined> {
    return audited(
      this.database,
      by,
      async (transaction) => {
        await transaction.query(WEBHOOK_LOCK, []);
        const [made] = await transaction.query<WebhookRecord>(
          {
            text: `INSERT INTO webhook AS w (id, url, types, enabled, secret, created_at, created_by)
                   SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM webhook) < $8 RETURNING ${WEBHOOK_COLUMNS}`,
          },
          [v7({ msecs: at }), url, types, enabled, secret, new Date(at), by?.actor ?? 'hub', webhooksMax],
        );
        return made && toWebhook(made);
      },
      (made) => actsOn(made, 'webhook.created', at),
    );
  }

  update(
    id: string,
    { url, types, enabled }: Parameters<WebhookStore['update']>[1],
    { at, by }: Parameters<WebhookStore['update']>[2],
  ): Promise<WebhookRow | undefined> {
    if (!isUuid(id)) return Promise.resolve(undefined);
    return audited(
      this.database,
      by,
      async (transaction) => {
        const [updated] = await transaction.query<WebhookRecord>(
          {
            text: `UPDATE webhook w SET url = $2, types = $3, enabled = $4, failures = 0, failing_since = NULL, retry_at = NULL,
                     paused_at = CASE WHEN $4 THEN NULL ELSE w.paused_at END
                   WHERE w.id = $1 RETURNING ${WEBHOOK_COLUMNS}`,
          },
          [id, url, types, enabled],
        );
        // Whoever has repaired a receiver need not wait for what is due in an hour.
        if (enabled)
          await transaction.query(
            { text: 'UPDATE webhook_debt SET next_at = now() WHERE webhook_id = $1 AND next_at > now()' },
            [id],
          );
        return updated && toWebhook(updated);
      },
      (updated) => actsOn(updated, 'webhook.updated', at),
    );
  }

  async remove(id: string, { at, by }: Parameters<WebhookStore['remove']>[1]): Promise<boolean> {
    if (!isUuid(id)) return false;
    const removed = await audited(
      this.database,
      by,
      async (transaction) => {
        // What it is owed and what was attempted may be much: retention removes that, and nobody sees it meanwhile.
        const text = `DELETE FROM webhook w WHERE w.id = $1 RETURNING ${WEBHOOK_COLUMNS}`;
        const [record] = await transaction.query<WebhookRecord>({ text }, [id]);
        return record && toWebhook(record);
      },
      (webhook) => actsOn(webhook, 'webhook.deleted', at),
    );
    return removed !== undefined;
  }

  redeliver(deliveryId: string, { at, by }: Parameters<WebhookStore['redeliver']>[1]): Promise<RedeliveryAnswer> {
    if (!isUuid(deliveryId)) return Promise.resolve({ kind: 'NOT_FOUND' });
    return audited(
      this.database,
      by,
      (transaction) => oweAgain(transaction, deliveryId),
      (answer) => (answer.kind === 'owed' ? actsOn(answer.webhook, 'webhook.redelivered', at, { deliveryId }) : []),
    );
  }

  async deliveriesOf(
    webhookIds: readonly string[],
    first: number,
  ): Promise<readonly (readonly WebhookDeliveryRow[])[]> {
    const records = await this.database.query<DeliveryRecord>(
      {
        name: 'webhook-deliveries',
        text: `SELECT d.* FROM unnest($1::uuid[]) AS w(id) CROSS JOIN LATERAL (
                 SELECT d.* FROM webhook_delivery d WHERE d.webhook_id = w.id ORDER BY d.id DESC LIMIT $2) d ORDER BY d.id DESC`,
      },
      [webhookIds, first],
    );
    return grouped(webhookIds, records, ({ webhook_id: id }) => id).map((own) => own.map(toDelivery));
  }

  claim(request: Parameters<WebhookStore['claim']>[0]): Promise<readonly OwedEvent[]> {
    return claimOwed(this.database, request);
  }

  settle(end: DeliveryEnd, breaker: Breaker): Promise<number | undefined> {
    return settleOwed(this.database, end, breaker);
  }

  release(owed: OwedEvent): Promise<void> {
    return releaseOwed(this.database, owed);
  }

  async owedMoreThan(events: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      {
        text: `SELECT w.id FROM webhook w WHERE w.enabled
                 AND (SELECT count(*) FROM (SELECT FROM webhook_debt d WHERE d.webhook_id = w.id LIMIT $1 + 1) owed) > $1`,
      },
      [events],
    );
    return rows.map(({ id }) => id);
  }

  async backlog(): Promise<WebhookBacklog> {
    const [row] = await this.database.query<{ paused: number; owed: number; oldestMs: number | null }>(BACKLOG, [
      OWED_COUNTED_MAX,
    ]);
    return { paused: row?.paused ?? 0, owed: row?.owed ?? 0, oldestMs: Math.max(0, row?.oldestMs ?? 0) };
  }

  async pause(id: string, reason: string, { at, by }: Parameters<WebhookStore['pause']>[2]): Promise<boolean> {
    const paused = await audited(
      this.database,
      by,
      async (transaction) => {
        const text = `UPDATE webhook w SET enabled = false, paused_at = $2 WHERE w.id = $1 AND w.enabled RETURNING ${WEBHOOK_COLUMNS}`;
        const [record] = await transaction.query<WebhookRecord>({ text }, [id, new Date(at)]);
        return record && toWebhook(record);
      },
      (webhook) => actsOn(webhook, 'webhook.paused', at, { reason }),
    );
    return paused !== undefined;
  }

  async removeOld(before: number): Promise<number> {
    const bound = [lowestUuidOf(before)];
    const isOrphan = 'NOT EXISTS (SELECT FROM webhook w WHERE w.id = r.webhook_id)';
    const attempts = await removeInBatches(this.database, 'webhook_delivery', `r.id < $1::uuid OR ${isOrphan}`, bound);
    const isNeeded =
      'EXISTS (SELECT FROM webhook w WHERE w.id = r.webhook_id AND (w.enabled OR r.event_id >= $1::uuid))';
    return attempts + (await removeInBatches(this.database, 'webhook_debt', `NOT ${isNeeded}`, bound));
  }
}

async function oweAgain(transaction: Queryable, deliveryId: string): Promise<RedeliveryAnswer> {
  const [attempt] = await transaction.query<{ webhook_id: string; event_id: string; has_event: boolean }>(
    {
      text: `SELECT d.webhook_id, d.event_id, EXISTS (SELECT FROM event e WHERE e.id = d.event_id) AS has_event
             FROM webhook_delivery d WHERE d.id = $1`,
    },
    [deliveryId],
  );
  if (attempt === undefined) return { kind: 'NOT_FOUND' };
  const text = `SELECT ${WEBHOOK_COLUMNS} FROM webhook w WHERE w.id = $1 FOR SHARE`;
  const [record] = await transaction.query<WebhookRecord>({ text }, [attempt.webhook_id]);
  if (record === undefined) return { kind: 'NOT_FOUND' };
  if (!record.enabled) return { kind: 'DISABLED' };
  if (!attempt.has_event) return { kind: 'EVENT_GONE' };
  await transaction.query(
    {
      text: `INSERT INTO webhook_debt (webhook_id, event_id, owed_at, next_at) VALUES ($1, $2, now(), now())
             ON CONFLICT (webhook_id, event_id) DO UPDATE SET owed_at = now(), next_at = now()`,
    },
    [attempt.webhook_id, attempt.event_id],
  );
  return { kind: 'owed', webhook: toWebhook(record) };
}

function actsOn(
  webhook: WebhookRow | undefined,
  action: `webhook.${string}`,
  at: number,
  more: Readonly<Record<string, unknown>> = {},
): readonly AuditedChange[] {
  if (webhook === undefined) return [];
  const { id, url, types, enabled } = webhook;
  return [{ action, subject: `webhook:${id}`, data: { url, types, enabled, ...more }, at }];
}
