-- Opens sessions: $1 rows, $2 the process that holds them. Creates new devices and raises the epoch
-- of the others; a session that is still open was taken over. A row with `ready_at` was ready
-- before it was written and also does what ready-sessions.sql does. A device that was removed since
-- its login gets an epoch and nothing else; one that is removed while this statement waits for it
-- is refused. Stale tools count as changed, because an OTA request may have changed the version
-- before. Returns what the device pointed to before.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(
    id text, dialect dialect, transport transport_kind, reachability reachability, remote_address text, at float8,
    gateway_id uuid, model text, firmware_version text, tool_set_hash text, tools_complete boolean, ready_at float8)
), removed AS (
  UPDATE removed_device r SET epoch = r.epoch + 1 FROM input i WHERE r.device_id = i.id
  RETURNING r.device_id AS id, r.epoch
), former AS MATERIALIZED (
  SELECT i.id, d.tool_set_hash, d.firmware_version, d.tools_stale, d.created_at
  FROM input i CROSS JOIN LATERAL (
    SELECT d.tool_set_hash, d.firmware_version, d.tools_stale, d.created_at FROM device d
    WHERE d.id = i.id OFFSET 0) d
), raised AS (
  INSERT INTO device AS d (
    id, dialect, transport, reachability, epoch, connected_at, last_seen_at, online, gateway_id, model,
    firmware_version, tool_set_hash, tools_discovered_at, tools_stale)
  SELECT id, dialect, transport, reachability, 1, to_timestamp(at / 1000), to_timestamp(coalesce(ready_at, at) / 1000),
    ready_at IS NOT NULL, gateway_id, model, firmware_version, tool_set_hash,
    CASE WHEN tool_set_hash IS NOT NULL THEN to_timestamp(ready_at / 1000) END,
    ready_at IS NOT NULL AND (tool_set_hash IS NULL OR NOT tools_complete)
  FROM input WHERE id NOT IN (SELECT id FROM removed) ORDER BY id
  ON CONFLICT (id) DO UPDATE SET
    dialect = excluded.dialect, transport = excluded.transport, reachability = excluded.reachability,
    epoch = d.epoch + 1, online = excluded.online, gateway_id = excluded.gateway_id,
    connected_at = excluded.connected_at, last_seen_at = excluded.last_seen_at,
    model = coalesce(excluded.model, d.model),
    firmware_version = coalesce(excluded.firmware_version, d.firmware_version),
    tool_set_hash = coalesce(excluded.tool_set_hash, d.tool_set_hash),
    tools_discovered_at = coalesce(excluded.tools_discovered_at, d.tools_discovered_at),
    tools_stale = CASE WHEN excluded.online THEN excluded.tools_stale ELSE d.tools_stale END
  RETURNING d.id, d.epoch, d.tool_set_hash, d.firmware_version, d.created_at
), open AS (
  -- One of the newest may be open; connections at the same moment do not see each other's. By key: where
  -- statistics say that no session is open, the planner reads all open ones for each device.
  SELECT s.device_id, s.epoch, i.at FROM raised r JOIN input i USING (id) CROSS JOIN LATERAL (
    SELECT s.device_id, s.epoch, s.disconnected_at FROM session s
    WHERE s.device_id = r.id AND s.epoch < r.epoch ORDER BY s.epoch DESC LIMIT 4) s
  WHERE s.disconnected_at IS NULL
), taken_over AS (
  UPDATE session s SET disconnected_at = to_timestamp(o.at / 1000), close_reason = 'taken_over'
  FROM open o WHERE s.device_id = o.device_id AND s.epoch = o.epoch
), opened AS (
  INSERT INTO session (device_id, epoch, gateway_id, transport, remote_address, firmware_version, connected_at)
  SELECT r.id, r.epoch, $2::uuid, i.transport, i.remote_address,
    CASE WHEN i.ready_at IS NULL THEN r.firmware_version ELSE i.firmware_version END, to_timestamp(i.at / 1000)
  FROM raised r JOIN input i USING (id) LEFT JOIN former f USING (id)
    -- Removed meanwhile, and inserted again: two equal rows are refused, and the next statement
    -- finds it removed.
    CROSS JOIN generate_series(1, CASE WHEN f.created_at <> r.created_at THEN 2 ELSE 1 END)
), changed AS (
  SELECT r.id, r.tool_set_hash, coalesce(r.firmware_version, '') AS firmware_version,
    to_timestamp(i.ready_at / 1000) AS at, f.tool_set_hash AS former_hash,
    coalesce(f.firmware_version, '') AS former_version
  FROM raised r JOIN input i USING (id) LEFT JOIN former f USING (id)
  WHERE i.ready_at IS NOT NULL
    AND (f.tools_stale OR (f.tool_set_hash, coalesce(f.firmware_version, ''))
      IS DISTINCT FROM (r.tool_set_hash, coalesce(r.firmware_version, '')))
), ended AS (
  UPDATE tool_set_use u SET last_seen_at = c.at FROM changed c
  WHERE u.device_id = c.id AND u.tool_set_hash = c.former_hash AND u.firmware_version = c.former_version
), used AS (
  INSERT INTO tool_set_use (device_id, tool_set_hash, firmware_version, first_seen_at, last_seen_at)
  SELECT id, tool_set_hash, firmware_version, at, at FROM changed WHERE tool_set_hash IS NOT NULL
  ON CONFLICT (device_id, tool_set_hash, firmware_version) DO UPDATE SET last_seen_at = excluded.last_seen_at
)
SELECT r.id, r.epoch, true AS is_listed, f.tool_set_hash, f.firmware_version FROM raised r LEFT JOIN former f USING (id)
UNION ALL SELECT id, epoch, false, NULL, NULL FROM removed
