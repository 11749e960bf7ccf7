/** Claiming what webhooks are owed, and settling it. */
import { v7 } from 'uuid';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import type { Breaker, DeliveryEnd, OwedEvent, WebhookStore } from '../webhook-store.js';
import { CLAIM, SETTLE_DELIVERED, SETTLE_EVENT_GONE, SETTLE_GIVEN_UP, SETTLE_RETRY } from './owed-statements.js';
import { toOwed } from './webhook-rows.js';
import type { OwedRecord } from './webhook-rows.js';

export async function claimOwed(
  database: Database,
  request: Parameters<WebhookStore['claim']>[0],
): Promise<readonly OwedEvent[]> {
  const { limit, perWebhook, claimMs, breaker } = request;
  return (await database.query<OwedRecord>(CLAIM, [limit, perWebhook, claimMs, breaker.failures])).map(toOwed);
}

/** Resolves to since when the webhook fails; undefined where it does not, or is gone. */
export async function settleOwed(
  database: Database,
  { owed, at, status, error, result }: DeliveryEnd,
  { failures, pauseMs, pauseMsMax }: Breaker,
): Promise<number | undefined> {
  const { webhookId, eventId, attempt } = owed;
  const text = error === undefined ? null : storableText(error);
  const logged = [
    webhookId,
    eventId,
    v7({ msecs: at }),
    attempt,
    status ?? null,
    text,
    at,
    result.kind === 'delivered',
  ];
  const failing = [...logged, failures, pauseMs, pauseMsMax];
  const ask = (statement: typeof CLAIM, values: unknown[]) =>
    database.query<{ failing_since?: Date | null }>(statement, values);
  const settled = () => {
    if (result.kind === 'delivered') return ask(SETTLE_DELIVERED, logged);
    if (result.kind === 'retry') return ask(SETTLE_RETRY, [...failing, result.afterMs]);
    return owed.event === undefined ? ask(SETTLE_EVENT_GONE, logged) : ask(SETTLE_GIVEN_UP, failing);
  };
  const [row] = await settled();
  return row?.failing_since?.getTime();
}

export async function releaseOwed(database: Database, { webhookId, eventId, attempt }: OwedEvent): Promise<void> {
  const text = `UPDATE webhook_debt SET claimed_until = NULL, attempts = attempts - 1 WHERE webhook_id = $1 AND event_id = $2 AND attempts = $3`;
  await database.query({ text }, [webhookId, eventId, attempt]);
}
