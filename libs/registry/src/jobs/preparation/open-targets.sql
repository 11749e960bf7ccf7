-- Up to $3 PENDING targets of opened waves become READY, or get what the offline policy says if
-- their device is offline.
WITH fenced AS (
  SELECT current_wave, offline FROM job WHERE id = $1 AND fence = $2 AND state = 'RUNNING' FOR SHARE
), picked AS MATERIALIZED (
  SELECT t.ctid AS place, t.device_id FROM fenced f, job_target t
  WHERE t.job_id = $1 AND t.indexed_state = 'PENDING' AND t.wave <= f.current_wave LIMIT $3 FOR UPDATE OF t SKIP LOCKED
), found AS (
  SELECT p.place, f.offline, d.id IS NULL AS is_gone, (d.online AND g.lease_until > now()) IS TRUE AS is_online
  FROM fenced f, picked p LEFT JOIN device d ON d.id = p.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id
), located AS (
  SELECT *, is_gone OR (NOT is_online AND offline <> 'WAIT') AS is_ended,
    NOT is_gone AND NOT is_online AND offline = 'FAIL' AS is_rejected FROM found
), updated AS (
  UPDATE job_target t SET
    state = CASE WHEN l.is_ended THEN 'DECIDED' WHEN l.is_online THEN 'READY' ELSE 'WAITING_DEVICE' END::target_state,
    outcome = CASE WHEN NOT l.is_ended THEN NULL WHEN t.attempts > 0 THEN latest_outcome(t.error_code)
                   WHEN l.is_rejected THEN 'REJECTED' ELSE 'SKIPPED' END::outcome,
    error_code = CASE WHEN l.is_rejected AND t.attempts = 0 THEN 'DEVICE_OFFLINE' ELSE t.error_code END,
    error_message = CASE WHEN l.is_rejected AND t.attempts = 0 THEN 'The device was offline when its turn came.'
                         ELSE t.error_message END,
    certainty = CASE WHEN l.is_ended THEN 'NEVER'::send_certainty END,
    decided_at = CASE WHEN l.is_ended THEN $4::timestamptz END
  FROM located l WHERE t.job_id = $1 AND t.ctid = l.place RETURNING t.wave, t.state, t.outcome
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 7, wave, 'pending', target_counter(state, outcome), count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT count(*)::int AS count FROM updated
