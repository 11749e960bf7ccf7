-- Packs the points of one day, $1 to $2: one row per series. A row per point costs 90 bytes with its
-- indexes, a packed point 7 to 20.
INSERT INTO measurement_pack (at, device_id, path_id, offsets, values)
SELECT $1, device_id, path_id,
  array_agg((extract(epoch FROM at - $1) * 1000)::int ORDER BY at), array_agg(value ORDER BY at)
FROM measurement WHERE at >= $1 AND at < $2 GROUP BY device_id, path_id ORDER BY device_id, path_id
ON CONFLICT (device_id, path_id, at) DO NOTHING
