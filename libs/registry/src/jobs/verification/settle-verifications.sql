-- Ends verifications: with a decision, or READY to be sent again ($6 is NULL). Targets that are no
-- longer in VERIFYING under the same claim number stay as they are. A target that is sent again
-- frees the place of its download.
WITH fenced AS (
  SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), found AS MATERIALIZED (
  -- By key, as in flush-targets.sql: where statistics say that no target is in verification, the
  -- planner reads all that are.
  SELECT f.id AS job_id, v.*
  FROM fenced f, unnest($4::text[], $5::int[], $6::outcome[], $7::text[], $8::text[], $9::bool[])
    AS v(device_id, claim, outcome, error_code, error_message, is_cut)
  CROSS JOIN LATERAL (
    SELECT FROM job_target t
    WHERE t.job_id = $1 AND t.device_id = v.device_id AND t.claim = v.claim AND t.state = 'VERIFYING' LIMIT 1) AS t
), updated AS (
  UPDATE job_target t SET
    state = CASE WHEN v.outcome IS NULL THEN 'READY' ELSE 'DECIDED' END::target_state, outcome = v.outcome,
    decided_at = CASE WHEN v.outcome IS NOT NULL THEN $3::timestamptz END, error_code = v.error_code,
    error_message = v.error_message, rpc_code = NULL, retry_at = NULL, verify_deadline_at = NULL,
    soft_deadline_at = NULL, cut_retries = t.cut_retries + v.is_cut::int
  FROM found v
  WHERE t.job_id = v.job_id AND t.device_id = v.device_id AND t.claim = v.claim AND t.state = 'VERIFYING'
  RETURNING t.device_id, t.wave, t.state, t.outcome
), freed AS (
  UPDATE download o SET expires_at = least(o.expires_at, $3)
  -- No index of open downloads fits this form of IS NULL.
  WHERE o.job_id = $1 AND coalesce(o.completed_at, 'infinity') = 'infinity'
    AND o.device_id IN (SELECT device_id FROM updated WHERE state = 'READY')
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 6, wave, 'verifying', target_counter(state, outcome), count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT device_id FROM updated
