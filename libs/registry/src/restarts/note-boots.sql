-- Compares the boots that uptimes show ($1 rows) with the last known ones. A start within $2 s of it is
-- the same: uptimes are rounded and clocks drift. The first one is no restart.
WITH input AS MATERIALIZED (
  SELECT i.id, to_timestamp(i.at / 1000) AS booted_at, i.firmware_version, i.reason
  FROM json_to_recordset($1) AS i(id text, at float8, firmware_version text, reason text)
), locked AS MATERIALIZED (
  SELECT d.id, d.booted_at AS former_at, d.booted_version AS former_version, i.booted_at, i.firmware_version, i.reason
  FROM (SELECT * FROM input ORDER BY id OFFSET 0) i
    -- By key, also where the plan was made over an empty table.
    CROSS JOIN LATERAL (
      SELECT d.id, d.booted_at, d.booted_version FROM device d
      WHERE d.id = i.id AND (d.booted_at IS NULL OR i.booted_at > d.booted_at + $2 * interval '1 second')
      FOR UPDATE) d
), noted AS (
  INSERT INTO device_restart (device_id, at, former_at, firmware_version, booted_version, reason, via)
  SELECT id, booted_at, former_at, former_version, firmware_version, reason, 'UPTIME' FROM locked
  WHERE former_at IS NOT NULL ON CONFLICT DO NOTHING
)
UPDATE device d SET booted_at = l.booted_at, booted_version = l.firmware_version
-- The second join promises few rows, so that the planner reads devices by key.
FROM locked l JOIN input i USING (id, booted_at) WHERE d.id = l.id
