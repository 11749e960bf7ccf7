-- Takes up to $3 connected targets whose value is due to be read. Each is due again at $5.
WITH fenced AS (
  SELECT j.id FROM job j JOIN hub_process p ON p.id = j.owner_id AND p.lease_until > now()
  WHERE j.id = $1 AND j.fence = $2
), picked AS MATERIALIZED (
  SELECT t.ctid AS place, d.epoch, d.gateway_id, d.tool_set_hash FROM fenced, job_target t
  JOIN device d ON d.id = t.device_id JOIN hub_process g ON g.id = d.gateway_id
  WHERE t.job_id = $1 AND t.indexed_state = 'VERIFYING' AND t.retry_at <= $4
    -- Not as a join with online devices, see wake-devices.sql.
    AND CASE WHEN d.online THEN g.lease_until > now() END
  ORDER BY t.retry_at LIMIT $3 FOR UPDATE OF t SKIP LOCKED
)
UPDATE job_target t SET retry_at = $5 FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place
RETURNING t.device_id, t.claim, p.epoch, p.gateway_id, p.tool_set_hash
