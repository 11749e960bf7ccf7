/**
 * The outbox of webhooks in SQL. All times are from PostgreSQL, so that processes with different
 * clocks agree on what is due and what is claimed.
 */
import { sql, SqlFile } from '../database/sql-file.js';

const { bigint, float, integer, jsonb, orNull, text, timestamp, uuid } = sql;

export const CLAIM = new SqlFile(new URL('./claim-outbox.sql', import.meta.url), {
  name: 'claim-webhook-outbox',
  parameters: { limit: bigint, perWebhook: integer, claimMs: float, failures: integer, pauseMsMax: float },
  row: {
    webhookId: uuid(),
    eventId: uuid(),
    attempt: integer,
    pendingSince: timestamp,
    url: text(),
    secret: text(),
    type: orNull(text()),
    deviceId: orNull(text()),
    data: orNull(jsonb<Readonly<Record<string, unknown>>>()),
  },
});

/**
 * Pending events are counted up to this number. A larger count would cost more than it is worth.
 */
export const PENDING_COUNTED_MAX = 100_000;

export const BACKLOG = new SqlFile(new URL('./read-backlog.sql', import.meta.url), {
  name: 'read-webhook-backlog',
  parameters: { countedMax: bigint },
  row: { paused: integer, pending: integer, oldestMs: orNull(float) },
});

/**
 * $1 webhook, $2 event, $3 id of the attempt, $4 its number, $5 status, $6 error, $7 at (ms).
 * Records nothing for a removed webhook.
 */
const LOG = `
  INSERT INTO webhook_delivery (id, webhook_id, event_id, attempt, status, error, at, delivered)
  SELECT $3::uuid, $1::uuid, $2::uuid, $4::int, $5::int, $6::text, to_timestamp($7::float8 / 1000), $8::boolean
  WHERE EXISTS (SELECT FROM webhook WHERE id = $1::uuid) RETURNING 1`;

const REMOVE = 'DELETE FROM webhook_outbox WHERE webhook_id = $1::uuid AND event_id = $2::uuid RETURNING 1';

/** $8 true. Does not touch a healthy webhook: its deliveries would block each other. */
export const SETTLE_DELIVERED = {
  name: 'settle-webhook-delivered',
  text: `WITH log AS (${LOG}), pending AS (${REMOVE})
         UPDATE webhook SET failures = 0, failing_since = NULL, retry_at = NULL
         WHERE id = $1::uuid AND (failures > 0 OR failing_since IS NOT NULL) RETURNING failing_since`,
};

/**
 * $9 failures in a row after which pauses begin, $10 the first pause and $11 the longest (ms).
 * Counts nothing for an event that another process delivered or claimed meanwhile.
 */
const FAILING = `
  UPDATE webhook SET failures = failures + 1, failing_since = coalesce(failing_since, now()),
    retry_at = CASE WHEN failures + 1 >= $9::int
      THEN now() + least($11::float8, $10::float8 * 2 ^ least(failures + 1 - $9::int, 30)) * interval '1 ms' END
  WHERE id = $1::uuid AND EXISTS (SELECT FROM pending) RETURNING failing_since`;

/** $8 false, $12 ms until the next attempt. Does not change the claim of another process. */
export const SETTLE_RETRY = {
  name: 'settle-webhook-retry',
  text: `WITH log AS (${LOG}), pending AS (
           UPDATE webhook_outbox SET next_at = now() + $12 * interval '1 ms', claimed_until = NULL
           WHERE webhook_id = $1::uuid AND event_id = $2::uuid AND attempts = $4::int RETURNING 1)
         ${FAILING}`,
};

/** $8 false. An event that was claimed or redelivered meanwhile stays. */
export const SETTLE_GIVEN_UP = {
  name: 'settle-webhook-given-up',
  text: `WITH log AS (${LOG}), pending AS (
           DELETE FROM webhook_outbox WHERE webhook_id = $1::uuid AND event_id = $2::uuid AND attempts = $4::int
           RETURNING 1)
         ${FAILING}`,
};

/** $8 false. A removed event is not a failure of the webhook. */
export const SETTLE_EVENT_GONE = { name: 'settle-webhook-event-gone', text: `WITH pending AS (${REMOVE}) ${LOG}` };
