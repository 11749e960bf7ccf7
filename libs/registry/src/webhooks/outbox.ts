/** Claims and settles events of the outbox. */
import type { DeviceId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import type { Database, Statement } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { timeOfUuid } from '../database/uuid-v7.js';
import { CLAIM, SETTLE_DELIVERED, SETTLE_EVENT_GONE, SETTLE_GIVEN_UP, SETTLE_RETRY } from './outbox-statements.js';
import type { Breaker, ClaimRequest, DeliveryEnd, PendingDelivery } from './webhook.js';

/** Processes claim in turn: each must count what the others have in flight. */
const CLAIM_LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.webhook-claims'))` };

export async function claimPending(
  database: Database,
  { limit, perWebhook, claimMs, breaker }: ClaimRequest,
): Promise<readonly PendingDelivery[]> {
  const records = await database.transaction(async (transaction) => {
    // A separate statement, because the snapshot of the claim must be younger than the lock.
    await transaction.query(CLAIM_LOCK, []);
    const { failures, pauseMsMax } = breaker;
    return CLAIM.run(transaction, { limit, perWebhook, claimMs, failures, pauseMsMax });
  });
  return records.map(({ type, deviceId, data, pendingSince, ...claimed }) => {
    const { eventId: id } = claimed;
    const event =
      type === null || data === null
        ? undefined
        : { id, type, deviceId: (deviceId ?? undefined) as DeviceId | undefined, at: timeOfUuid(id), data };
    return { ...claimed, event, pendingSince: pendingSince.getTime() };
  });
}

/** Resolves to since when the webhook fails; undefined where it does not, or was removed. */
export async function settlePending(
  database: Database,
  { pending: { webhookId, eventId, attempt, event }, at, status, error, result }: DeliveryEnd,
  { failures, pauseMs, pauseMsMax }: Breaker,
): Promise<number | undefined> {
  const text = error === undefined ? null : storableText(error);
  const isDelivered = result.kind === 'delivered';
  const logged = [webhookId, eventId, v7({ msecs: at }), attempt, status ?? null, text, at, isDelivered];
  const failing = [...logged, failures, pauseMs, pauseMsMax];
  const ask = (statement: Statement, values: unknown[]) =>
    database.query<{ failing_since?: Date | null }>(statement, values);
  const settled = () => {
    if (result.kind === 'delivered') return ask(SETTLE_DELIVERED, logged);
    if (result.kind === 'retry') return ask(SETTLE_RETRY, [...failing, result.afterMs]);
    return event === undefined ? ask(SETTLE_EVENT_GONE, logged) : ask(SETTLE_GIVEN_UP, failing);
  };
  const [row] = await settled();
  return row?.failing_since?.getTime();
}

export async function releasePending(
  database: Database,
  { webhookId, eventId, attempt }: PendingDelivery,
): Promise<void> {
  const text = `UPDATE webhook_outbox SET claimed_until = NULL, attempts = attempts - 1
                WHERE webhook_id = $1 AND event_id = $2 AND attempts = $3`;
  await database.query({ text }, [webhookId, eventId, attempt]);
}
