-- Records what known devices report in OTA requests. $1 rows, locked in the order of ids. Requests
-- older than the newest session or boot do not change the version. A new version makes tools stale.
-- Each boot after the first is a restart; a request repeated within five seconds is the same boot.
WITH input AS MATERIALIZED (
  SELECT *, to_timestamp(at / 1000) AS received_at FROM json_to_recordset($1) AS i(
    id text, client_uuid_hash text, model text, firmware_version text,
    chip text, ota_partitions int, elf_sha256 text, board_facts jsonb, reset_reason text, at float8)
), locked AS MATERIALIZED (
  SELECT d.id, d.firmware_version AS former_version, d.tool_set_hash, i.received_at, i.firmware_version,
    i.firmware_version IS NOT NULL
      AND i.received_at >= coalesce(greatest(d.connected_at, d.booted_at), i.received_at) AS is_newest,
    d.booted_at IS NULL OR i.received_at >= d.booted_at AS is_newest_boot,
    -- The boot that enrolled a device is not noted, but its session is. The row of the device may
    -- already have the session that this boot opened.
    CASE WHEN d.booted_at IS NULL THEN (
      SELECT max(s.connected_at) FROM session s WHERE s.device_id = d.id AND s.connected_at < i.received_at)
      ELSE d.booted_at + interval '5 seconds' END AS ran_since,
    d.booted_at, coalesce(d.booted_version, d.firmware_version) AS ran_version, i.reset_reason
  FROM (SELECT * FROM input ORDER BY id OFFSET 0) i
    -- By key, also where the plan was made over an empty table.
    CROSS JOIN LATERAL (
      SELECT d.id, d.firmware_version, d.booted_version, d.tool_set_hash, d.connected_at, d.booted_at FROM device d
      WHERE d.id = i.id AND d.client_uuid_hash = i.client_uuid_hash FOR UPDATE) d
), changed AS (
  SELECT * FROM locked WHERE is_newest AND former_version IS NOT NULL AND firmware_version <> former_version
), restarted AS (
  INSERT INTO device_restart (device_id, at, former_at, firmware_version, booted_version, reason, via)
  SELECT id, received_at, coalesce(booted_at, ran_since), ran_version, firmware_version, reset_reason, 'OTA'
  FROM locked WHERE received_at > ran_since ON CONFLICT DO NOTHING
), ended AS (
  UPDATE tool_set_use u SET last_seen_at = greatest(u.last_seen_at, c.received_at) FROM changed c
  WHERE u.device_id = c.id AND u.tool_set_hash = c.tool_set_hash AND u.firmware_version = c.former_version
)
UPDATE device d SET model = coalesce(d.model, i.model),
  firmware_version = CASE WHEN l.is_newest THEN l.firmware_version
    ELSE coalesce(d.firmware_version, l.firmware_version) END,
  tools_stale = d.tools_stale
    OR (d.tool_set_hash IS NOT NULL AND EXISTS (SELECT FROM changed c WHERE c.id = d.id)),
  chip = coalesce(i.chip, d.chip), ota_partitions = coalesce(i.ota_partitions, d.ota_partitions),
  elf_sha256 = coalesce(i.elf_sha256, d.elf_sha256), board_facts = coalesce(i.board_facts, d.board_facts),
  booted_at = greatest(d.booted_at, l.received_at),
  booted_version = CASE WHEN l.is_newest_boot THEN l.firmware_version ELSE d.booted_version END,
  last_seen_at = greatest(d.last_seen_at, l.received_at)
-- A join on more columns promises few rows, so that the planner reads devices by key.
FROM locked l JOIN input i USING (id, received_at) WHERE d.id = l.id
RETURNING d.id, l.former_version, d.firmware_version
