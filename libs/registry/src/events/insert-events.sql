-- Writes events, $1 as rows, and adds them to the outbox of webhooks, so that both commit together.
-- Without webhooks it reads an empty table.
WITH written AS (
  INSERT INTO event (id, type, device_id, data)
  SELECT i.id, i.type, i.device_id, i.data
  FROM json_to_recordset($1) AS i(id uuid, type text, device_id text, data jsonb)
  ON CONFLICT (id) DO NOTHING RETURNING id, type
), wanted AS (
  SELECT w.id AS webhook_id, t.type FROM (SELECT DISTINCT type FROM written) t
  JOIN webhook w ON w.enabled AND EXISTS (
    SELECT FROM unnest(w.types) AS p(pattern)
    WHERE p.pattern IN (t.type, '*') OR (right(p.pattern, 2) = '.*' AND starts_with(t.type, left(p.pattern, -1))))
), added AS (
  INSERT INTO webhook_outbox (webhook_id, event_id, pending_since, next_at)
  SELECT wanted.webhook_id, written.id, now(), now() FROM wanted JOIN written USING (type) RETURNING 1
)
SELECT EXISTS (SELECT FROM added) AS is_pending
