/** Webhooks and their outbox. The statement that writes an event also adds it to the outbox. */
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange } from '../audit/audit-entry.js';
import type { Database, Transaction } from '../database/database.js';
import { grouped } from '../database/grouped.js';
import { plainRow } from '../database/plain-row.js';
import { isUuid, lowestUuidOf } from '../database/uuid-v7.js';
import type { WebhookDelivery } from '../generated/prisma/client.js';
import { removeInBatches } from '../retention/remove-in-batches.js';
import { claimPending, releasePending, settlePending } from './outbox.js';
import { BACKLOG, PENDING_COUNTED_MAX } from './outbox-statements.js';
import type {
  Breaker,
  ClaimRequest,
  DeliveryEnd,
  PendingDelivery,
  RedeliveryAnswer,
  SignedWebhook,
  WebhookAction,
  WebhookBacklog,
  WebhookDeliveryRow,
  WebhookRow,
  WebhookUpdate,
} from './webhook.js';

/** Bounds the number of webhooks that are created at the same time. */
const WEBHOOK_LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.webhooks'))` };
/** No other changes it between its check and its change. */
const LOCK_ONE = { text: 'SELECT FROM webhook WHERE id = $1 FOR UPDATE' };
/** The columns of a WebhookRow. */
const SHOWN = {
  id: true,
  url: true,
  types: true,
  enabled: true,
  createdAt: true,
  failingSince: true,
  pausedAt: true,
} as const;
const DELIVERIES = {
  name: 'webhook-deliveries',
  text: `SELECT d.id, d.webhook_id AS "webhookId", d.event_id AS "eventId", e.type AS "eventType", d.attempt, d.status,
           d.error, d.at, d.delivered
         FROM unnest($1::uuid[]) AS w(id) CROSS JOIN LATERAL (
           SELECT d.* FROM webhook_delivery d WHERE d.webhook_id = w.id ORDER BY d.id DESC LIMIT $2) d
         LEFT JOIN LATERAL (SELECT e.type FROM event e WHERE e.id = d.event_id LIMIT 1) e ON true
         ORDER BY d.id DESC`,
};
const PENDING_OF = {
  name: 'webhook-pending-events',
  text: `SELECT (SELECT count(*)::int FROM (
           SELECT FROM webhook_outbox d WHERE d.webhook_id = w.id LIMIT $2) pending) AS count
         FROM unnest($1::uuid[]) WITH ORDINALITY AS w(id, place) ORDER BY w.place`,
};
const DELIVER_NOW = { text: 'UPDATE webhook_outbox SET next_at = now() WHERE webhook_id = $1 AND next_at > now()' };
/** The time of PostgreSQL, as events of the outbox have it. */
const NOTE_ENABLED = { text: 'UPDATE webhook SET enabled_at = now() WHERE id = $1' };
/** An attempt in flight loses its claim, so that its failure neither delays nor removes it. */
const DELIVER_AGAIN = {
  text: `INSERT INTO webhook_outbox AS o (webhook_id, event_id, pending_since, next_at) VALUES ($1, $2, now(), now())
         ON CONFLICT (webhook_id, event_id) DO UPDATE SET pending_since = now(), next_at = now(),
           attempts = o.attempts + (o.claimed_until IS NOT NULL)::int, claimed_until = NULL`,
};
const PENDING_MORE_THAN = {
  text: `SELECT w.id FROM webhook w WHERE w.enabled AND (
           SELECT count(*) FROM (
             SELECT FROM webhook_outbox d
             WHERE d.webhook_id = w.id AND (w.enabled_at IS NULL OR d.pending_since >= w.enabled_at)
             LIMIT $1 + 1) pending) > $1`,
};

export class WebhookStore {
  constructor(private readonly database: Database) {}

  async all(): Promise<readonly WebhookRow[]> {
    const query = { orderBy: { id: 'asc' as const }, select: SHOWN };
    return (await this.database.ask((prisma) => prisma.webhook.findMany(query))).map(plainRow);
  }

  /** Undefined where there are `webhooksMax` webhooks. */
  create(
    { url, types, enabled, secret }: Pick<WebhookRow, 'url' | 'types' | 'enabled'> & { readonly secret: string },
    { webhooksMax, at, by }: WebhookAction & { readonly webhooksMax: number },
  ): Promise<WebhookRow | undefined> {
    const settings = { url, types: [...types], enabled, secret };
    const data = { ...settings, id: v7({ msecs: at }), createdAt: new Date(at), createdBy: by?.actor ?? 'hub' };
    return audited(
      this.database,
      by,
      async (transaction) => {
        await transaction.query(WEBHOOK_LOCK, []);
        return transaction.ask(async (prisma) => {
          if ((await prisma.webhook.count()) >= webhooksMax) return undefined;
          return plainRow(await prisma.webhook.create({ data, select: SHOWN }));
        });
      },
      (made) => changesOf(made, 'webhook.created', at),
    );
  }

  /**
   * A webhook that is enabled again starts without failures, and one that stays disabled is stopped
   * by a person from now on. Undefined for an unknown id.
   */
  update(
    id: string,
    { url, types, enabled }: Pick<WebhookRow, 'url' | 'types' | 'enabled'>,
    { at, by, isExpected }: WebhookUpdate,
  ): Promise<WebhookRow | 'OTHER_REVISION' | undefined> {
    if (!isUuid(id)) return Promise.resolve(undefined);
    const fresh = { failures: 0, failingSince: null, retryAt: null, pausedAt: null };
    const change = { where: { id }, data: { url, types: [...types], enabled, ...fresh }, select: SHOWN };
    return audited(
      this.database,
      by,
      async (transaction) => {
        await transaction.query(LOCK_ONE, [id]);
        const stored = await transaction.ask((prisma) => prisma.webhook.findUnique({ where: { id }, select: SHOWN }));
        if (stored !== null && isExpected?.(plainRow(stored)) === false) return 'OTHER_REVISION' as const;
        const [updated] = await transaction.ask((prisma) => prisma.webhook.updateManyAndReturn(change));
        if (enabled && stored?.enabled === false) await transaction.query(NOTE_ENABLED, [id]);
        // A receiver that was repaired must not wait for retries that are due in an hour.
        if (enabled) await transaction.query(DELIVER_NOW, [id]);
        return updated && plainRow(updated);
      },
      (updated) => (updated === 'OTHER_REVISION' ? [] : changesOf(updated, 'webhook.updated', at)),
    );
  }

  /** False for an unknown id. Retention removes the outbox and the deliveries later. */
  async remove(id: string, { at, by }: WebhookAction): Promise<boolean> {
    if (!isUuid(id)) return false;
    const where = { id };
    const removed = await audited(
      this.database,
      by,
      (transaction) =>
        transaction.ask(async (prisma) => {
          const webhook = await prisma.webhook.findUnique({ where, select: SHOWN });
          const { count } = await prisma.webhook.deleteMany({ where });
          return webhook === null || count === 0 ? undefined : plainRow(webhook);
        }),
      (webhook) => changesOf(webhook, 'webhook.deleted', at),
    );
    return removed !== undefined;
  }

  /** Puts the event of an attempt into the outbox again. */
  redeliver(deliveryId: string, { at, by }: WebhookAction): Promise<RedeliveryAnswer> {
    if (!isUuid(deliveryId)) return Promise.resolve({ kind: 'NOT_FOUND' });
    return audited(
      this.database,
      by,
      (transaction) => deliverAgain(transaction, deliveryId),
      (answer) =>
        answer.kind === 'queued' ? changesOf(answer.webhook, 'webhook.redelivered', at, { deliveryId }) : [],
    );
  }

  /** The latest deliveries of each webhook. */
  async deliveriesOf(
    webhookIds: readonly string[],
    first: number,
  ): Promise<readonly (readonly WebhookDeliveryRow[])[]> {
    type Row = WebhookDelivery & { readonly eventType: string | null };
    const records = await this.database.query<Row>(DELIVERIES, [webhookIds, first]);
    return grouped(webhookIds, records, ({ webhookId }) => webhookId).map((own) => own.map(plainRow));
  }

  /** The events that wait for their delivery to each webhook, counted up to PENDING_COUNTED_MAX. */
  async pendingOf(webhookIds: readonly string[]): Promise<readonly number[]> {
    const rows = await this.database.query<{ count: number }>(PENDING_OF, [webhookIds, PENDING_COUNTED_MAX]);
    return rows.map(({ count }) => count);
  }

  /** A webhook with its secret. */
  async findSigned(id: string): Promise<SignedWebhook | undefined> {
    if (!isUuid(id)) return undefined;
    const query = { where: { id }, select: { ...SHOWN, secret: true } };
    const webhook = await this.database.ask((prisma) => prisma.webhook.findUnique(query));
    return webhook === null ? undefined : plainRow(webhook);
  }

  /** Writes down that a test event was sent. Changes nothing else. */
  async recordTest(webhook: WebhookRow, isDelivered: boolean, { at, by }: WebhookAction): Promise<void> {
    const changes = changesOf(webhook, 'webhook.tested', at, { delivered: isDelivered });
    await audited(
      this.database,
      by,
      async () => changes,
      (made) => made,
    );
  }

  /** Claims due events, the oldest of each webhook first. A claim lapses after `claimMs`. */
  claim(request: ClaimRequest): Promise<readonly PendingDelivery[]> {
    return claimPending(this.database, request);
  }

  /** Records an attempt. Resolves to since when the webhook fails; undefined where it does not. */
  settle(end: DeliveryEnd, breaker: Breaker): Promise<number | undefined> {
    return settlePending(this.database, end, breaker);
  }

  /** Returns a claim as if it had not been taken. */
  release(pending: PendingDelivery): Promise<void> {
    return releasePending(this.database, pending);
  }

  /**
   * The enabled webhooks with more than that many events in their outbox. Events that waited when a
   * webhook was enabled again do not count: it must get the time to deliver them.
   */
  async pendingMoreThan(events: number): Promise<readonly string[]> {
    return (await this.database.query<{ id: string }>(PENDING_MORE_THAN, [events])).map(({ id }) => id);
  }

  async backlog(): Promise<WebhookBacklog> {
    const [row] = await BACKLOG.run(this.database, { countedMax: PENDING_COUNTED_MAX });
    return { paused: row?.paused ?? 0, pending: row?.pending ?? 0, oldestMs: Math.max(0, row?.oldestMs ?? 0) };
  }

  /** Stops delivering to it. False where it was not enabled, or is not at `url` any more. */
  async pause(
    id: string,
    reason: string,
    { at, by, url }: WebhookAction & { readonly url?: string | undefined },
  ): Promise<boolean> {
    const data = { enabled: false, pausedAt: new Date(at) };
    const where = { id, enabled: true, ...(url === undefined ? {} : { url }) };
    const change = { where, data, select: SHOWN };
    const paused = await audited(
      this.database,
      by,
      async (transaction) => (await transaction.ask((prisma) => prisma.webhook.updateManyAndReturn(change)))[0],
      (webhook) => changesOf(webhook, 'webhook.paused', at, { reason }),
    );
    return paused !== undefined;
  }

  /** Removes attempts from before `before`, and the outbox of removed and of disabled webhooks. */
  async removeOld(before: number): Promise<number> {
    const bound = [lowestUuidOf(before)];
    const isOrphan = 'NOT EXISTS (SELECT FROM webhook w WHERE w.id = r.webhook_id)';
    const attempts = await removeInBatches(this.database, 'webhook_delivery', `r.id < $1::uuid OR ${isOrphan}`, bound);
    const isNeeded =
      'EXISTS (SELECT FROM webhook w WHERE w.id = r.webhook_id AND (w.enabled OR r.event_id >= $1::uuid))';
    return attempts + (await removeInBatches(this.database, 'webhook_outbox', `NOT ${isNeeded}`, bound));
  }
}

async function deliverAgain(transaction: Transaction, deliveryId: string): Promise<RedeliveryAnswer> {
  const attempt = await transaction.ask((prisma) => prisma.webhookDelivery.findUnique({ where: { id: deliveryId } }));
  if (attempt === null) return { kind: 'NOT_FOUND' };
  const { webhookId, eventId } = attempt;
  await transaction.query({ text: 'SELECT FROM webhook WHERE id = $1 FOR SHARE' }, [webhookId]);
  const [webhook, events] = await transaction.ask(async (prisma) => [
    await prisma.webhook.findUnique({ where: { id: webhookId }, select: SHOWN }),
    await prisma.event.count({ where: { id: eventId } }),
  ]);
  if (webhook === null) return { kind: 'NOT_FOUND' };
  if (!webhook.enabled) return { kind: 'DISABLED' };
  if (events === 0) return { kind: 'EVENT_GONE' };
  await transaction.query(DELIVER_AGAIN, [webhookId, eventId]);
  return { kind: 'queued', webhook: plainRow(webhook) };
}

function changesOf(
  webhook: Pick<WebhookRow, 'id' | 'url' | 'types' | 'enabled'> | undefined,
  action: `webhook.${string}`,
  at: number,
  more: Readonly<Record<string, unknown>> = {},
): readonly AuditedChange[] {
  if (webhook === undefined) return [];
  const { id, url, types, enabled } = webhook;
  return [{ action, subject: `webhook:${id}`, data: { url, types, enabled, ...more }, at }];
}
