-- Compares the boots that uptimes show ($1 rows) with the last known ones. The first one is no restart.
-- A start at most $2 s later is the same, as uptimes are rounded. With the same version, so is one that
-- is later by at most the share $3 of the whole uptime: the clock of a board may be slow. A counter
-- of 32 bits begins again after $4 s: the start moves, without a restart.
WITH input AS MATERIALIZED (
  SELECT i.id, to_timestamp(i.at / 1000) AS booted_at, i.uptime / 1000 AS uptime, i.firmware_version, i.reason
  FROM json_to_recordset($1) AS i(id text, at float8, uptime float8, firmware_version text, reason text)
), locked AS MATERIALIZED (
  SELECT d.id, d.booted_at AS former_at, d.booted_version AS former_version, i.booted_at, i.firmware_version,
    i.reason, extract(epoch FROM i.booted_at - d.booted_at)::float8 AS later, i.uptime
  FROM (SELECT * FROM input ORDER BY id OFFSET 0) i
    -- By key, also where the plan was made over an empty table.
    CROSS JOIN LATERAL (
      SELECT d.id, d.booted_at, d.booted_version FROM device d
      WHERE d.id = i.id AND (d.booted_at IS NULL OR (
        SELECT later > $2 AND (later > $3 * (later + i.uptime) OR i.firmware_version IS DISTINCT FROM d.booted_version)
        FROM (SELECT extract(epoch FROM i.booted_at - d.booted_at)::float8 AS later) s))
      FOR UPDATE) d
), noted AS (
  INSERT INTO device_restart (device_id, at, former_at, firmware_version, booted_version, reason, via)
  SELECT id, booted_at, former_at, former_version, firmware_version, reason, 'UPTIME' FROM locked
  WHERE former_at IS NOT NULL AND NOT (
    2 * later > $4 AND abs(later - round(later / $4) * $4) <= greatest($2, $3 * (later + uptime))
    AND firmware_version IS NOT DISTINCT FROM former_version)
  ON CONFLICT DO NOTHING
)
UPDATE device d SET booted_at = l.booted_at, booted_version = l.firmware_version
-- The second join promises few rows, so that the planner reads devices by key.
FROM locked l JOIN input i USING (id, booted_at) WHERE d.id = l.id
