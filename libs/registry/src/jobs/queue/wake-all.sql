-- WAITING_DEVICE targets become READY if their device is online; at most $3 of them. Targets of
-- removed devices end SKIPPED.
WITH fenced AS (
  SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), picked AS MATERIALIZED (
  SELECT t.ctid AS place, d.id IS NULL AS is_gone
  FROM fenced, job_target t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id
  WHERE t.job_id = $1 AND t.indexed_state = 'WAITING_DEVICE' AND (d.id IS NULL OR (d.online AND g.lease_until > now()))
  LIMIT $3 FOR UPDATE OF t SKIP LOCKED
), updated AS (
  UPDATE job_target t SET
    state = CASE WHEN p.is_gone THEN 'DECIDED' ELSE 'READY' END::target_state,
    outcome = CASE WHEN NOT p.is_gone THEN NULL WHEN t.attempts > 0 THEN latest_outcome(t.error_code)
                   ELSE 'SKIPPED' END::outcome,
    certainty = coalesce(t.certainty, CASE WHEN p.is_gone THEN 'NEVER'::send_certainty END),
    decided_at = CASE WHEN p.is_gone THEN now() END
  FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING t.wave, t.state, t.outcome
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 3, wave, 'waiting_device', target_counter(state, outcome), count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT count(*)::int AS count FROM updated
