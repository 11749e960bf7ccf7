-- UNKNOWN targets get the outcome of a late answer, once, also in finished jobs.
WITH found AS MATERIALIZED (
  -- By the id of the call, see find-late-targets.sql.
  SELECT t.job_id, t.device_id, f.*
  FROM unnest($1::uuid[], $2::outcome[], $3::text[], $4::text[], $5::int[], $6::text[])
    AS f(call_id, outcome, error_code, error_message, rpc_code, hash)
  CROSS JOIN LATERAL (
    SELECT t.job_id, t.device_id FROM job_target t WHERE t.listed_call_id = f.call_id
      AND CASE t.outcome WHEN 'UNKNOWN' THEN t.state = 'DECIDED' AND NOT t.late END LIMIT 1) t
), locked AS MATERIALIZED (
  -- A recount locks its job, and counts no target whose move is counted too.
  SELECT id FROM job WHERE id IN (SELECT job_id FROM found) FOR KEY SHARE
), updated AS (
  UPDATE job_target t SET outcome = f.outcome, certainty = 'YES', late = true, error_code = f.error_code,
    error_message = f.error_message, rpc_code = f.rpc_code, result_hash = f.hash
  FROM found f JOIN locked l ON l.id = f.job_id WHERE t.job_id = f.job_id AND t.device_id = f.device_id
    AND CASE t.outcome WHEN 'UNKNOWN' THEN t.state = 'DECIDED' AND NOT t.late AND t.call_id = f.call_id END
  RETURNING t.job_id, t.device_id, t.wave, t.outcome, t.result_hash
), stored AS (
  INSERT INTO job_result (job_id, hash, result) SELECT DISTINCT u.job_id, body.hash, body.result::jsonb
  FROM updated u JOIN unnest($7::text[], $8::text[]) AS body(hash, result) ON body.hash = u.result_hash
  ON CONFLICT DO NOTHING
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT job_id, 8, wave, 'unknown', target_counter('DECIDED', outcome), count(*)
  FROM updated GROUP BY 1, 3, 5 ORDER BY 1, 3
)
SELECT job_id, device_id FROM updated
