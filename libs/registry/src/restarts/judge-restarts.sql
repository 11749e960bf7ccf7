-- Says what explains each restart that is old enough ($1), or that nothing does. Only acts since the
-- start before it count, so that one act explains one restart: calls and credentials within $2 ms, jobs
-- within $3 ms, because an image takes its time. The policy of a tool is that of findToolPolicy in
-- libs/jobs: its exact name, or else the longest prefix.
WITH open AS MATERIALIZED (
  SELECT r.device_id, r.at, r.former_at, greatest(r.former_at, r.at - $2 * interval '1 millisecond') AS since,
    greatest(r.former_at, r.at - $3 * interval '1 millisecond') AS job_since
  FROM device_restart r WHERE r.cause IS NULL AND r.at <= $1 ORDER BY r.at LIMIT 500 FOR UPDATE SKIP LOCKED
), judged AS (
  SELECT o.device_id, o.at, CASE
    WHEN EXISTS (
      SELECT FROM call c CROSS JOIN LATERAL (
        SELECT p.disconnect_expected OR p.verification IN ('REBOOT', 'FIRMWARE') AS restarts FROM tool_policy p
        WHERE p.pattern = c.tool OR (right(p.pattern, 1) = '*' AND starts_with(c.tool, left(p.pattern, -1)))
        ORDER BY p.pattern = c.tool DESC, length(p.pattern) DESC LIMIT 1) p
      WHERE c.device_id = o.device_id AND c.id >= uuid_from(o.since) AND c.id < uuid_from(o.at)
        AND c.certainty <> 'NEVER' AND p.restarts) THEN 'CALL'
    WHEN EXISTS (
      SELECT FROM job_target t JOIN job j ON j.id = t.job_id
      WHERE t.device_id = o.device_id AND t.listed_call_id >= uuid_from(o.job_since)
        AND t.listed_call_id < uuid_from(o.at)
        AND (j.disconnect_expected OR j.verification IN ('REBOOT', 'FIRMWARE'))) THEN 'JOB'
    WHEN EXISTS (
      SELECT FROM device_credential k WHERE k.device_id = o.device_id AND k.issued_at > o.since AND k.issued_at <= o.at)
      THEN 'CREDENTIAL'
    WHEN EXISTS (SELECT FROM hub_process h WHERE h.started_at > o.since AND h.started_at <= o.at) OR EXISTS (
      -- In a CASE no index of closed sessions fits: it would read the sessions of all devices.
      SELECT FROM session s WHERE s.device_id = o.device_id AND CASE
        WHEN s.close_reason IN ('hub_stopping', 'hub_crashed')
        THEN s.disconnected_at > o.since AND s.disconnected_at <= o.at END) THEN 'HUB'
    ELSE 'UNEXPECTED' END AS cause
  FROM open o
)
UPDATE device_restart r SET cause = j.cause FROM judged j WHERE r.device_id = j.device_id AND r.at = j.at
RETURNING r.device_id, r.at, r.cause, r.firmware_version, r.booted_version, r.reason, r.via
