-- Registers devices before they connect. $1 rows, $2 now. Fails as a whole if another transaction
-- inserts one of them.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(
    id text, name text, tags text[], dialect dialect, transport transport_kind, address text,
    client_uuid_hash text, admit_without_code_until float8, dial_by_admin boolean)
), returned AS (
  DELETE FROM removed_device r USING input i WHERE r.device_id = i.id RETURNING r.device_id, r.epoch
)
INSERT INTO device (id, name, tags, dialect, reachability, transport, preferred_transport, address,
  enrolled_at, epoch, client_uuid_hash, admit_without_code_until, dial_by_admin)
SELECT i.id, i.name, i.tags, i.dialect,
  CASE WHEN i.transport = 'WEBSOCKET' AND i.dialect = 'XIAOZHI' THEN 'IN_CONVERSATION'
    ELSE 'ALWAYS' END::reachability,
  i.transport, i.transport, i.address, to_timestamp($2::float8 / 1000), coalesce(r.epoch, 0),
  i.client_uuid_hash, to_timestamp(i.admit_without_code_until / 1000), i.dial_by_admin
FROM input i LEFT JOIN returned r ON r.device_id = i.id ORDER BY i.id
