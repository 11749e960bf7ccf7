-- Targets in VERIFYING with news: the device is back or sent an OTA request, it reported that its
-- upgrade failed, or a deadline has passed; and always the targets of the calls $4. Returns one row
-- without a device if there is no news.
--
-- A device has left by itself if the hub did not end its connection and its gateway is still there.
-- A connection that the device replaced counts only if the new one is at the same process: a killed
-- process leaves its sessions open for devices to replace.
WITH fenced AS (
  SELECT j.id, j.verification, i.version AS expected_version
  FROM job j LEFT JOIN firmware_image i ON i.id = j.firmware_image_id WHERE j.id = $1 AND j.fence = $2
), verifying AS MATERIALIZED (
  SELECT t.*, coalesce(t.error_code = 'UPDATE_DID_NOT_START_OR_FAILED', false) AS has_answered
  FROM fenced f JOIN job_target t ON t.job_id = f.id WHERE t.indexed_state = 'VERIFYING'
), news AS (
  SELECT t.*, d.epoch AS device_epoch, (d.online AND g.lease_until > now()) IS TRUE AS is_online, d.connected_at,
    d.gateway_id AS gateway, d.firmware_version, f.expected_version,
    CASE WHEN d.booted_at > t.started_at THEN d.booted_at END AS boot_at, d.booted_version AS boot_version
  FROM fenced f CROSS JOIN verifying t
  LEFT JOIN device d ON d.id = t.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id
  WHERE t.verify_deadline_at <= $3 OR t.soft_deadline_at <= $3 OR t.has_answered
    OR t.call_id IN (SELECT unnest($4::uuid[]))
    OR (f.verification <> 'READBACK'
      AND (d.booted_at > t.started_at OR (d.online AND d.epoch > t.epoch AND g.lease_until > now())))
)
SELECT (SELECT count(*) FROM verifying)::int AS verifying_count, n.device_id, n.claim, n.attempts, n.call_id,
  n.epoch AS sent_epoch, n.device_epoch AS epoch, n.is_online, n.gateway AS gateway_id,
  n.baseline_version, n.expected_version, coalesce(newest.firmware_version, n.firmware_version) AS firmware_version,
  n.connected_at, n.boot_at, n.boot_version, coalesce(n.has_answered, false) AS has_answered,
  CASE WHEN w.server_id IS NULL THEN 'NONE'
       WHEN w.completed_at IS NOT NULL OR w.broken_off_at IS NOT NULL THEN 'OVER'
       WHEN p.id IS NULL THEN 'CUT'
       WHEN w.started_at IS NULL AND n.has_answered AND w.server_id = n.gateway_id THEN 'OVER'
       ELSE 'OPEN' END AS download,
  n.cut_retries,
  (s.close_reason IN ('device_closed', 'connection_lost')
    OR (s.close_reason = 'taken_over' AND s.gateway_id = n.gateway)) IS TRUE AS has_left,
  coalesce(back.since, CASE WHEN n.device_epoch > n.epoch AND (n.firmware_version = n.expected_version
    OR (n.expected_version IS NULL AND n.firmware_version <> n.baseline_version))
    THEN n.connected_at END) AS back_since,
  (SELECT max(w.last_byte_at) FROM download w WHERE w.job_id = n.job_id AND w.device_id = n.device_id) AS last_byte_at,
  n.verify_deadline_at, n.soft_deadline_at, n.error_code, n.error_message
FROM (SELECT) one LEFT JOIN news n ON true
LEFT JOIN session s ON s.device_id = n.device_id AND s.epoch = n.epoch
LEFT JOIN session newest ON newest.device_id = n.device_id AND newest.epoch = n.device_epoch
LEFT JOIN LATERAL (
  SELECT o.* FROM download o WHERE o.job_id = n.job_id AND o.device_id = n.device_id
  ORDER BY o.id DESC LIMIT 1) w ON true
LEFT JOIN hub_process p ON p.id = w.server_id AND p.lease_until > now()
LEFT JOIN LATERAL (
  SELECT min(b.connected_at) AS since FROM session b
  WHERE b.device_id = n.device_id AND b.epoch > n.epoch AND (b.firmware_version = n.expected_version
    OR (n.expected_version IS NULL AND b.firmware_version <> n.baseline_version))) back ON true
