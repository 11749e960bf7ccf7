-- Counts by wave the devices that should be back and are not: offline past the soft deadline, and
-- without a byte of an image for $3 ms. Abort rules count them as lost before they are decided.
-- [jobs §12]
SELECT t.wave, count(*)::int AS count
FROM job_target t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id
WHERE t.job_id = $1 AND t.indexed_state = 'VERIFYING' AND t.soft_deadline_at <= $2
  AND (d.online AND g.lease_until > now()) IS NOT TRUE AND (d.booted_at > t.started_at) IS NOT TRUE
  AND NOT EXISTS (SELECT FROM download w WHERE w.job_id = t.job_id AND w.device_id = t.device_id
    AND w.last_byte_at > $2::timestamptz - $3 * interval '1 millisecond')
GROUP BY t.wave
