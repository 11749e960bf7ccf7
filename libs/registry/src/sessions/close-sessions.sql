-- Closes sessions ($1 rows). Returns the devices whose newest session this was; only these go
-- offline.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(id text, epoch int, reason text, at float8)
), locked AS MATERIALIZED (
  SELECT i.id, i.epoch, d.epoch = i.epoch AS is_newest
  FROM (SELECT id, epoch FROM input ORDER BY id OFFSET 0) i
    CROSS JOIN LATERAL (SELECT d.epoch FROM device d WHERE d.id = i.id FOR UPDATE) d
), ended AS (
  UPDATE session s SET disconnected_at = to_timestamp(i.at / 1000), close_reason = i.reason
  FROM locked l JOIN input i USING (id, epoch)
  -- No index of open sessions fits this form of IS NULL: by key, see connect-sessions.sql.
  WHERE s.device_id = i.id AND s.epoch = i.epoch AND coalesce(s.disconnected_at, 'infinity') = 'infinity'
), gone AS (
  UPDATE device d SET online = false, last_seen_at = greatest(d.last_seen_at, to_timestamp(i.at / 1000))
  FROM locked l JOIN input i USING (id, epoch)
  WHERE d.id = l.id AND l.is_newest
)
SELECT id FROM locked WHERE is_newest
