-- Stores points, given as columns $1 to $4 in the order of devices and paths, and keeps the latest of
-- each series. A repeated write changes nothing. A latest point after $5 is from before a clock was
-- set back. Returns the paths that retention has removed, whose points are not stored. A path counts
-- as removed if its number ($6) now has another name than $7. Points of hours and days that are rolled
-- up already, such as the older samples of a ring, are added to their roll-ups. Those that come in the
-- seconds in which their hour is being rolled up miss them.
WITH input AS MATERIALIZED (
  SELECT to_timestamp(at / 1000) AS at, value, device_id, path_id::smallint AS path_id,
    path_id = ANY (ARRAY(
      SELECT k.id FROM unnest($6::int[], $7::text[]) AS k(id, path)
      JOIN measurement_path p ON p.id = k.id AND p.path = k.path)) AS is_known
  FROM unnest($1::float8[], $2::float8[], $3::int[], $4::int[]) AS i(at, value, device_id, path_id)
), stored AS (
  INSERT INTO measurement (at, value, device_id, path_id)
  SELECT at, value, device_id, path_id FROM input WHERE is_known
  ON CONFLICT DO NOTHING RETURNING at, value, device_id, path_id
), late AS MATERIALIZED (
  SELECT s.*, s.at < date_trunc('day', p.hours_until, 'UTC') AS is_of_day
  FROM stored s JOIN measurement_progress p ON s.at < p.hours_until
), hours AS (
  INSERT INTO measurement_hour AS h (at, device_id, path_id, count, min, mean, max)
  SELECT date_trunc('hour', at, 'UTC'), device_id, path_id, count(*), min(value), avg(value), max(value)
  FROM late GROUP BY 1, 2, 3 ORDER BY 3, 2, 1
  ON CONFLICT (device_id, path_id, at) DO UPDATE
  SET count = h.count + excluded.count, min = least(h.min, excluded.min), max = greatest(h.max, excluded.max),
    mean = (h.mean::float8 * h.count + excluded.mean::float8 * excluded.count) / (h.count + excluded.count)
), days AS (
  INSERT INTO measurement_day AS d (at, device_id, path_id, count, min, mean, max)
  SELECT date_trunc('day', at, 'UTC'), device_id, path_id, count(*), min(value), avg(value), max(value)
  FROM late WHERE is_of_day GROUP BY 1, 2, 3 ORDER BY 3, 2, 1
  ON CONFLICT (device_id, path_id, at) DO UPDATE
  SET count = d.count + excluded.count, min = least(d.min, excluded.min), max = greatest(d.max, excluded.max),
    mean = (d.mean::float8 * d.count + excluded.mean::float8 * excluded.count) / (d.count + excluded.count)
), latest AS (
  INSERT INTO measurement_series AS s (device_id, path_id, at, value)
  SELECT DISTINCT ON (device_id, path_id) device_id, path_id, at, value FROM input WHERE is_known
  ORDER BY device_id, path_id, at DESC
  ON CONFLICT (device_id, path_id) DO UPDATE SET at = excluded.at, value = excluded.value
  WHERE s.at <= excluded.at OR s.at > $5
)
SELECT DISTINCT path_id::int AS path FROM input WHERE NOT is_known
