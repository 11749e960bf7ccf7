-- Marks sessions as ready ($1 rows): presence, model, version and tool set of their devices.
-- Returns the sessions that are open and the newest of their device, with what the device pointed
-- to before.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(
    id text, epoch int, gateway_id uuid, model text, firmware_version text, tool_set_hash text, tools_complete boolean,
    at float8)
), former AS MATERIALIZED (
  SELECT i.id, i.epoch, d.tool_set_hash, d.firmware_version, d.tools_stale
  FROM (SELECT id, epoch FROM input ORDER BY id OFFSET 0) i
    -- By key, see connect-sessions.sql.
    CROSS JOIN LATERAL (
      SELECT s.disconnected_at FROM session s WHERE s.device_id = i.id AND s.epoch = i.epoch OFFSET 0) s
    CROSS JOIN LATERAL (
      SELECT d.tool_set_hash, d.firmware_version, d.tools_stale FROM device d
      WHERE d.id = i.id AND d.epoch = i.epoch FOR UPDATE) d
  WHERE s.disconnected_at IS NULL
), changed AS (
  UPDATE device d SET
    online = true, gateway_id = i.gateway_id, last_seen_at = to_timestamp(i.at / 1000),
    model = coalesce(i.model, d.model), firmware_version = coalesce(i.firmware_version, d.firmware_version),
    tool_set_hash = coalesce(i.tool_set_hash, d.tool_set_hash),
    tools_discovered_at = CASE WHEN i.tool_set_hash IS NULL THEN d.tools_discovered_at
                               ELSE to_timestamp(i.at / 1000) END,
    tools_stale = i.tool_set_hash IS NULL OR NOT i.tools_complete
  FROM former f JOIN input i USING (id, epoch)
  WHERE d.id = f.id
  RETURNING d.id, d.tool_set_hash, coalesce(d.firmware_version, '') AS firmware_version,
    to_timestamp(i.at / 1000) AS at, f.tools_stale OR (f.tool_set_hash, coalesce(f.firmware_version, ''))
      IS DISTINCT FROM (d.tool_set_hash, coalesce(d.firmware_version, '')) AS is_other
), described AS (
  UPDATE session s SET firmware_version = i.firmware_version
  FROM former f JOIN input i USING (id, epoch)
  WHERE s.device_id = i.id AND s.epoch = i.epoch AND i.firmware_version IS DISTINCT FROM s.firmware_version
), ended AS (
  UPDATE tool_set_use u SET last_seen_at = c.at
  FROM changed c JOIN former f USING (id)
  WHERE c.is_other AND u.device_id = f.id AND u.tool_set_hash = f.tool_set_hash
    AND u.firmware_version = coalesce(f.firmware_version, '')
), used AS (
  INSERT INTO tool_set_use (device_id, tool_set_hash, firmware_version, first_seen_at, last_seen_at)
  SELECT id, tool_set_hash, firmware_version, at, at FROM changed WHERE is_other AND tool_set_hash IS NOT NULL
  ON CONFLICT (device_id, tool_set_hash, firmware_version) DO UPDATE SET last_seen_at = excluded.last_seen_at
)
SELECT id, tool_set_hash, firmware_version FROM former
