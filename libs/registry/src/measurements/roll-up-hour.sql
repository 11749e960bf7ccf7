-- Combines the points of one hour, $1 to $2, per series. Ordered by path, so that a fleet chart of one
-- path reads pages side by side. A repeated run replaces its rows. Its points are packed if the clock
-- was ahead over midnight.
INSERT INTO measurement_hour AS h (at, device_id, path_id, count, min, mean, max)
SELECT $1, device_id, path_id, count(*), min(value), avg(value), max(value)
FROM (
  SELECT at, device_id, path_id, value FROM measurement
  UNION ALL
  SELECT k.at + p.ms * interval '1 millisecond', k.device_id, k.path_id, p.value
  FROM measurement_pack k CROSS JOIN LATERAL unnest(k.offsets, k.values) AS p(ms, value)
  WHERE k.at = date_trunc('day', $1::timestamptz, 'UTC')
) m WHERE at >= $1 AND at < $2 GROUP BY path_id, device_id ORDER BY path_id, device_id
ON CONFLICT (device_id, path_id, at) DO UPDATE
SET count = excluded.count, min = excluded.min, mean = excluded.mean, max = excluded.max
