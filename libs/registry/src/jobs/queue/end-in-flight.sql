-- Targets in flight or in verification end UNKNOWN, because their call may have run. A claimed
-- target is still READY in the index.
WITH fenced AS (
  SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), picked AS MATERIALIZED (
  SELECT t.ctid AS place, t.state FROM fenced, job_target t
  WHERE t.job_id = $1 AND (
    (t.indexed_state = 'READY' AND t.state = 'DISPATCHING') OR t.indexed_state = 'SENT'
    OR t.indexed_state = 'VERIFYING')
  FOR UPDATE OF t
), updated AS (
  UPDATE job_target t SET state = 'DECIDED', outcome = 'UNKNOWN', certainty = 'MAYBE', decided_at = $3,
    error_code = $4, error_message = $5
  FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING t.device_id, t.wave, p.state
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 4, wave, target_counter(state, NULL), 'unknown', count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT count(*)::int AS count, coalesce((array_agg(device_id))[1:$6], '{}') AS device_ids FROM updated
