-- Up to $6 targets of one state ($5), in which nothing is in flight, end with the outcome $3. A
-- target that was sent before keeps the end of its latest attempt. The state is compared again in
-- the update instead of locking the rows before.
WITH fenced AS (
  SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), picked AS MATERIALIZED (
  SELECT t.ctid AS place FROM fenced, job_target t
  WHERE t.job_id = $1 AND t.indexed_state = $5 AND t.state = $5 LIMIT $6
), updated AS (
  UPDATE job_target t SET state = 'DECIDED', certainty = coalesce(t.certainty, 'NEVER'), decided_at = $4,
    retry_at = NULL, outcome = CASE WHEN t.attempts > 0 THEN latest_outcome(t.error_code) ELSE $3 END
  FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place AND t.state = $5
  RETURNING t.device_id, t.wave, t.state, t.outcome
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 4, wave, target_counter($5, NULL), target_counter(state, outcome), count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT count(*)::int AS count, coalesce((array_agg(device_id))[1:$7], '{}') AS device_ids FROM updated
