-- Records requests that went to the former server, $1 as rows; at most $2 boards are listed. Returns
-- the boards that are listed. The first Client-Id stays: it admits the board after its move.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(id text, client_uuid_hash text, model text, firmware_version text,
    at float8, answered boolean, bound boolean,
    may_be_added boolean)
)
INSERT INTO moving_board AS m (device_id, client_uuid_hash, model, firmware_version, asked_at, added_at,
  answered_at, bound_there)
SELECT i.id, i.client_uuid_hash, i.model, i.firmware_version, to_timestamp(i.at / 1000), to_timestamp(i.at / 1000),
  CASE WHEN i.answered THEN to_timestamp(i.at / 1000) END, i.bound
FROM input i
WHERE EXISTS (SELECT FROM moving_board x WHERE x.device_id = i.id) 
  OR (i.may_be_added AND (SELECT count(*) FROM moving_board) < $2)
ORDER BY i.id
ON CONFLICT (device_id) DO UPDATE SET
  client_uuid_hash = coalesce(m.client_uuid_hash, excluded.client_uuid_hash),
  other_client_at = CASE WHEN m.client_uuid_hash <> excluded.client_uuid_hash THEN excluded.asked_at
    ELSE m.other_client_at END,
  model = coalesce(excluded.model, m.model),
  firmware_version = coalesce(excluded.firmware_version, m.firmware_version),
  asked_at = greatest(m.asked_at, excluded.asked_at),
  answered_at = coalesce(excluded.answered_at, m.answered_at),
  bound_there = CASE WHEN excluded.answered_at IS NULL THEN m.bound_there ELSE excluded.bound_there END
RETURNING m.device_id, m.xmax = 0 AS is_new
