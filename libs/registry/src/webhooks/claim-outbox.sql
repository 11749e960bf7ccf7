-- Claims due events. $1 maximum in total, $2 maximum in flight per webhook, $3 ms until the claim
-- lapses, $4 failures in a row after which a webhook gets one delivery at a time, $5 ms of the longest
-- pause: a later end is from before the clock of PostgreSQL was set back.
WITH room AS MATERIALIZED (
  SELECT w.id, CASE WHEN w.failures >= $4 THEN 1 ELSE $2 END
    - (SELECT count(*) FROM webhook_outbox d WHERE d.webhook_id = w.id AND d.claimed_until > now()) AS free
  FROM webhook w WHERE w.enabled AND (w.retry_at IS NULL OR w.retry_at <= now()
    -- now() would be the time before the wait for the lock of claims.
    OR w.retry_at > statement_timestamp() + $5 * interval '1 ms')),
due AS (
  SELECT d.webhook_id, d.event_id FROM room r CROSS JOIN LATERAL (
    SELECT d.webhook_id, d.event_id FROM webhook_outbox d
    WHERE d.webhook_id = r.id AND d.next_at <= now() AND (d.claimed_until IS NULL OR d.claimed_until <= now())
    ORDER BY d.next_at, d.event_id LIMIT greatest(r.free, 0) FOR UPDATE SKIP LOCKED) d
  -- In random order, so that a webhook that hangs does not block the others.
  ORDER BY random() LIMIT $1),
claimed AS (
  -- now() would be the time before the wait for the lock of claims.
  UPDATE webhook_outbox d SET claimed_until = statement_timestamp() + $3 * interval '1 ms', attempts = d.attempts + 1
  FROM due WHERE d.webhook_id = due.webhook_id AND d.event_id = due.event_id
  RETURNING d.webhook_id AS "webhookId", d.event_id AS "eventId", d.attempts AS attempt,
    d.pending_since)
-- The time in which a webhook was not enabled does not count.
SELECT c."webhookId", c."eventId", c.attempt, greatest(c.pending_since, w.enabled_at) AS "pendingSince",
  w.url, w.secret, e.type, e.device_id AS "deviceId", e.data
FROM claimed c JOIN webhook w ON w.id = c."webhookId"
-- By its key only: one lookup in one partition per event.
LEFT JOIN LATERAL (SELECT e.type, e.device_id, e.data FROM event e WHERE e.id = c."eventId" LIMIT 1) e ON true
ORDER BY c."eventId"
