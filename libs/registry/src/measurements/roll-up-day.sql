-- Combines the roll-ups of the hours of one day, $1 to $2, per series. A repeated run replaces its rows.
INSERT INTO measurement_day AS d (at, device_id, path_id, count, min, mean, max)
SELECT $1, device_id, path_id, sum(count), min(min), sum(mean::float8 * count) / sum(count), max(max)
FROM measurement_hour WHERE at >= $1 AND at < $2 GROUP BY path_id, device_id ORDER BY path_id, device_id
ON CONFLICT (device_id, path_id, at) DO UPDATE
SET count = excluded.count, min = excluded.min, mean = excluded.mean, max = excluded.max
