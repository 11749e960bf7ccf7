-- WAITING_DEVICE targets of the named devices become READY if the device is online; at most $3 of
-- them. Each device is looked up by itself: in a free join, the list may be searched once per
-- waiting target.
WITH fenced AS (
  SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), picked AS MATERIALIZED (
  SELECT f.id AS job_id, d.id AS device_id, w.place
  FROM fenced f, device d JOIN hub_process g ON g.id = d.gateway_id CROSS JOIN LATERAL (
    SELECT t.ctid AS place FROM job_target t
    WHERE t.job_id = $1 AND t.device_id = d.id AND t.indexed_state = 'WAITING_DEVICE'
    LIMIT 1 FOR UPDATE SKIP LOCKED) w
  -- In a CASE no index of online devices fits: where statistics say that all are offline, the planner
  -- reads all that are online.
  WHERE d.id = ANY ($4::text[]) AND CASE WHEN d.online THEN g.lease_until > now() END LIMIT $3
), updated AS (
  -- By key: by $1 alone, the planner reads a whole job that statistics do not know yet.
  UPDATE job_target t SET state = 'READY' FROM picked p
  WHERE t.job_id = p.job_id AND t.device_id = p.device_id AND t.ctid = p.place RETURNING t.wave
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 3, wave, 'waiting_device', 'pending', count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT count(*)::int AS count FROM updated
