-- The device runs the version of a roll-out already, $1 to $7 as it reports itself: its target is
-- decided at the time $8. One that only talks may open no session before the roll-out expires.
WITH picked AS MATERIALIZED (
  SELECT t.ctid AS place, t.job_id, t.state AS state_before, {{message}} AS message
  FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
  JOIN job_target t ON t.job_id = j.id AND t.device_id = $1, {{asReported}}
  WHERE j.firmware_image_id IS NOT NULL AND j.state <> 'FINISHED' AND j.state = 'RUNNING'
    AND j.verification = 'FIRMWARE' AND t.state IN ('READY', 'WAITING_DEVICE')
    AND {{incompatibility}} = 'ALREADY_CURRENT'
  FOR SHARE OF j FOR UPDATE OF t SKIP LOCKED
), updated AS (
  -- A target that was sent before has succeeded.
  UPDATE job_target t SET state = 'DECIDED', certainty = coalesce(t.certainty, 'NEVER'), decided_at = $8,
    retry_at = NULL, outcome = CASE WHEN t.attempts > 0 THEN 'SUCCEEDED' ELSE 'NO_CHANGE' END::outcome,
    error_code = CASE WHEN t.attempts = 0 THEN 'ALREADY_CURRENT' END,
    error_message = CASE WHEN t.attempts = 0 THEN p.message END
  FROM picked p WHERE t.job_id = p.job_id AND t.ctid = p.place
  RETURNING t.job_id, t.wave, p.state_before, t.state, t.outcome
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT job_id, 9, wave, target_counter(state_before, NULL), target_counter(state, outcome), 1 FROM updated
)
SELECT job_id FROM updated
