-- Stores points, given as columns $1 to $4 in the order of devices and paths, and keeps the latest of
-- each series. A repeated write changes nothing. A latest point after $5 is from before a clock was
-- set back. Returns the paths that retention has removed, whose points are not stored. A path counts
-- as removed if its number ($6) now has another name than $7.
WITH input AS MATERIALIZED (
  SELECT to_timestamp(at / 1000) AS at, value, device_id, path_id::smallint AS path_id,
    path_id = ANY (ARRAY(
      SELECT k.id FROM unnest($6::int[], $7::text[]) AS k(id, path)
      JOIN measurement_path p ON p.id = k.id AND p.path = k.path)) AS is_known
  FROM unnest($1::float8[], $2::float8[], $3::int[], $4::int[]) AS i(at, value, device_id, path_id)
), stored AS (
  INSERT INTO measurement (at, value, device_id, path_id)
  SELECT at, value, device_id, path_id FROM input WHERE is_known
  ON CONFLICT DO NOTHING
), latest AS (
  INSERT INTO measurement_series AS s (device_id, path_id, at, value)
  SELECT DISTINCT ON (device_id, path_id) device_id, path_id, at, value FROM input WHERE is_known
  ORDER BY device_id, path_id, at DESC
  ON CONFLICT (device_id, path_id) DO UPDATE SET at = excluded.at, value = excluded.value
  WHERE s.at <= excluded.at OR s.at > $5
)
SELECT DISTINCT path_id::int AS path FROM input WHERE NOT is_known
