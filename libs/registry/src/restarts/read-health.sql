-- The counts of a health gate: roll-out $1, from $2 to $3 and with the wave $4. No row without its image.
-- The new version has the targets that the job upgraded; the baseline are devices of the job and of the
-- same models on other versions. Boards that connect only for conversations count from start to start.
WITH image AS MATERIALIZED (
  SELECT i.version FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id WHERE j.id = $1
), started AS MATERIALIZED (
  SELECT t.device_id, t.wave FROM job_target t WHERE t.job_id = $1
), peers AS MATERIALIZED (
  SELECT d.id, s.wave, d.reachability, d.booted_at, d.booted_version FROM device d LEFT JOIN started s ON s.device_id = d.id
  WHERE s.device_id IS NOT NULL
    OR d.model IN (SELECT DISTINCT x.model FROM device x JOIN started y ON y.device_id = x.id)
), runs AS (
  SELECT p.wave, s.firmware_version AS version, s.connected_at AS since, coalesce(s.disconnected_at, $3) AS until
  FROM peers p JOIN session s ON s.device_id = p.id
  WHERE p.reachability = 'ALWAYS' AND s.connected_at < $3 AND coalesce(s.disconnected_at, 'infinity') > $2
  UNION ALL
  SELECT p.wave, r.firmware_version, r.former_at, least(r.at, r.former_at + interval '24 hours')
  FROM peers p JOIN device_restart r ON r.device_id = p.id
  WHERE p.reachability = 'IN_CONVERSATION' AND r.former_at < $3 AND r.at > $2
  UNION ALL
  SELECT p.wave, p.booted_version, p.booted_at, least($3, p.booted_at + interval '24 hours')
  FROM peers p WHERE p.reachability = 'IN_CONVERSATION' AND p.booted_at < $3
), served AS (
  SELECT coalesce(version = (SELECT version FROM image), false) AS is_new,
    extract(epoch FROM least($3, until) - greatest($2, since)) / 3600 AS hours
  FROM runs WHERE until > $2 AND (version IS DISTINCT FROM (SELECT version FROM image) OR wave IS NOT NULL)
), restarted AS (
  SELECT r.device_id, r.at, coalesce(r.firmware_version = (SELECT version FROM image), false) AS is_new, p.wave
  FROM device_restart r JOIN peers p ON p.id = r.device_id
  WHERE r.cause = 'UNEXPECTED' AND r.at >= $2 AND r.at < $3
    AND (r.firmware_version IS DISTINCT FROM (SELECT version FROM image) OR p.wave IS NOT NULL)
), looping AS (
  SELECT DISTINCT a.device_id FROM (
    SELECT device_id, at - lag(at, 2) OVER (PARTITION BY device_id ORDER BY at) AS span
    FROM restarted WHERE is_new AND wave = $4) a
  WHERE a.span <= interval '10 minutes'
)
SELECT i.version, (SELECT count(*) FROM restarted WHERE is_new)::int AS restarts,
  (SELECT count(*) FROM restarted WHERE NOT is_new)::int AS baseline_restarts,
  coalesce((SELECT sum(hours) FROM served WHERE is_new), 0)::float8 AS device_hours,
  coalesce((SELECT sum(hours) FROM served WHERE NOT is_new), 0)::float8 AS baseline_device_hours,
  (SELECT count(*) FROM looping)::int AS looping_devices
FROM image i
