/**
 * The outbox of webhooks in SQL. All times are from PostgreSQL, so that processes with different
 * clocks agree on what is due and what is claimed. The table is called webhook_debt.
 */

/**
 * Follows a statement that writes events, as `written(id, type)`, so that both commit together.
 * Without webhooks it reads an empty table.
 */
export const ADD_TO_OUTBOX = `
  wanted AS (
    SELECT w.id AS webhook_id, t.type FROM (SELECT DISTINCT type FROM written) t
    JOIN webhook w ON w.enabled AND EXISTS (
      SELECT FROM unnest(w.types) AS p(pattern)
      WHERE p.pattern IN (t.type, '*') OR (right(p.pattern, 2) = '.*' AND starts_with(t.type, left(p.pattern, -1))))),
  added AS (
    INSERT INTO webhook_debt (webhook_id, event_id, owed_at, next_at)
    SELECT wanted.webhook_id, written.id, now(), now() FROM wanted JOIN written USING (type) RETURNING 1)
  SELECT EXISTS (SELECT FROM added) AS owes`;

/**
 * $1 maximum in total, $2 maximum in flight per webhook, $3 ms until the claim lapses, $4 failures
 * in a row after which a webhook gets one delivery at a time.
 */
export const CLAIM = {
  name: 'claim-webhook-debts',
  text: `
    WITH room AS MATERIALIZED (
      SELECT w.id, CASE WHEN w.failures >= $4 THEN 1 ELSE $2 END
        - (SELECT count(*) FROM webhook_debt d WHERE d.webhook_id = w.id AND d.claimed_until > now()) AS free
      FROM webhook w WHERE w.enabled AND (w.retry_at IS NULL OR w.retry_at <= now())),
    due AS (
      SELECT d.webhook_id, d.event_id FROM room r CROSS JOIN LATERAL (
        SELECT d.webhook_id, d.event_id FROM webhook_debt d
        WHERE d.webhook_id = r.id AND d.next_at <= now() AND (d.claimed_until IS NULL OR d.claimed_until <= now())
        ORDER BY d.next_at, d.event_id LIMIT greatest(r.free, 0) FOR UPDATE SKIP LOCKED) d
      -- In random order, so that a webhook that hangs does not block the others.
      ORDER BY random() LIMIT $1),
    claimed AS (
      UPDATE webhook_debt d SET claimed_until = now() + $3 * interval '1 ms', attempts = d.attempts + 1
      FROM due WHERE d.webhook_id = due.webhook_id AND d.event_id = due.event_id
      RETURNING d.webhook_id AS "webhookId", d.event_id AS "eventId", d.attempts AS attempt, d.owed_at AS "owedAt")
    SELECT c.*, w.url, w.secret, e.type, e.device_id AS "deviceId", e.data
    FROM claimed c JOIN webhook w ON w.id = c."webhookId"
    -- By its key only: one lookup in one partition per event.
    LEFT JOIN LATERAL (SELECT e.type, e.device_id, e.data FROM event e WHERE e.id = c."eventId" LIMIT 1) e ON true
    ORDER BY c."eventId"`,
};

/**
 * Pending events are counted up to this number. A larger count would cost more than it is worth.
 */
export const PENDING_COUNTED_MAX = 100_000;

/** $1 maximum to count. The oldest event of each webhook is one lookup in the index. */
export const BACKLOG = {
  name: 'read-webhook-backlog',
  text: `
    SELECT (SELECT count(*)::int FROM webhook WHERE paused_at IS NOT NULL AND NOT enabled) AS paused,
      (SELECT count(*)::int FROM (
        SELECT FROM webhook_debt d JOIN webhook w ON w.id = d.webhook_id AND w.enabled LIMIT $1) pending) AS pending,
      (SELECT (extract(epoch FROM now() - min(first.owed_at)) * 1000)::float8
       FROM webhook w CROSS JOIN LATERAL (
         SELECT d.owed_at FROM webhook_debt d WHERE d.webhook_id = w.id ORDER BY d.event_id LIMIT 1) first
       WHERE w.enabled) AS "oldestMs"`,
};

/**
 * $1 webhook, $2 event, $3 id of the attempt, $4 its number, $5 status, $6 error, $7 at (ms).
 * Records nothing for a removed webhook.
 */
const LOG = `
  INSERT INTO webhook_delivery (id, webhook_id, event_id, attempt, status, error, at, delivered)
  SELECT $3::uuid, $1::uuid, $2::uuid, $4::int, $5::int, $6::text, to_timestamp($7::float8 / 1000), $8::boolean
  WHERE EXISTS (SELECT FROM webhook WHERE id = $1::uuid) RETURNING 1`;

const REMOVE = 'DELETE FROM webhook_debt WHERE webhook_id = $1::uuid AND event_id = $2::uuid RETURNING 1';

/** $8 true. Does not touch a healthy webhook: its deliveries would block each other. */
export const SETTLE_DELIVERED = {
  name: 'settle-webhook-delivered',
  text: `WITH log AS (${LOG}), pending AS (${REMOVE})
         UPDATE webhook SET failures = 0, failing_since = NULL, retry_at = NULL
         WHERE id = $1::uuid AND (failures > 0 OR failing_since IS NOT NULL) RETURNING failing_since`,
};

/** $9 failures in a row after which pauses begin, $10 the first pause and $11 the longest (ms). */
const FAILING = `
  UPDATE webhook SET failures = failures + 1, failing_since = coalesce(failing_since, now()),
    retry_at = CASE WHEN failures + 1 >= $9::int
      THEN now() + least($11::float8, $10::float8 * 2 ^ least(failures + 1 - $9::int, 30)) * interval '1 ms' END
  WHERE id = $1::uuid RETURNING failing_since`;

/** $8 false, $12 ms until the next attempt. Does not change the claim of another process. */
export const SETTLE_RETRY = {
  name: 'settle-webhook-retry',
  text: `WITH log AS (${LOG}), pending AS (
           UPDATE webhook_debt SET next_at = now() + $12 * interval '1 ms', claimed_until = NULL
           WHERE webhook_id = $1::uuid AND event_id = $2::uuid AND attempts = $4::int RETURNING 1)
         ${FAILING}`,
};

/** $8 false. */
export const SETTLE_GIVEN_UP = {
  name: 'settle-webhook-given-up',
  text: `WITH log AS (${LOG}), pending AS (${REMOVE}) ${FAILING}`,
};

/** $8 false. A removed event is not a failure of the webhook. */
export const SETTLE_EVENT_GONE = { name: 'settle-webhook-event-gone', text: `WITH pending AS (${REMOVE}) ${LOG}` };
