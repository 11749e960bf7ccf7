-- The state of all webhooks together. $1 maximum to count. The oldest event of each webhook is one
-- lookup in the index.
SELECT (SELECT count(*)::int FROM webhook WHERE paused_at IS NOT NULL AND NOT enabled) AS paused,
  (SELECT count(*)::int FROM (
    SELECT FROM webhook_outbox d JOIN webhook w ON w.id = d.webhook_id AND w.enabled LIMIT $1) pending) AS pending,
  (SELECT (extract(epoch FROM now() - min(first.pending_since)) * 1000)::float8
   FROM webhook w CROSS JOIN LATERAL (
     SELECT d.pending_since FROM webhook_outbox d WHERE d.webhook_id = w.id ORDER BY d.event_id LIMIT 1) first
   WHERE w.enabled) AS "oldestMs"
