-- Adds the progress of downloads. $1 rows.
UPDATE download d SET requests = d.requests + i.requests, bytes_served = d.bytes_served + i.bytes,
  started_at = coalesce(d.started_at, to_timestamp(i.at / 1000)),
  last_byte_at = CASE WHEN i.bytes > 0 THEN greatest(d.last_byte_at, to_timestamp(i.at / 1000))
                      ELSE d.last_byte_at END,
  completed_at = CASE WHEN i.is_complete THEN coalesce(d.completed_at, to_timestamp(i.at / 1000))
                      ELSE d.completed_at END,
  server_id = coalesce(i.server_id, d.server_id),
  broken_off_at = CASE WHEN i.is_broken_off THEN to_timestamp(i.at / 1000)
                       WHEN i.server_id IS NULL THEN d.broken_off_at END
FROM json_to_recordset($1)
  AS i(id uuid, requests int, bytes float8, is_complete boolean, server_id uuid, is_broken_off boolean,
    at float8)
WHERE d.id = i.id
