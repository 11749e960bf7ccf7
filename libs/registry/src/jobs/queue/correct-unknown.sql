-- UNKNOWN targets get the outcome of a late answer, once, also in finished jobs.
WITH updated AS (
  UPDATE job_target t SET outcome = f.outcome, certainty = 'YES', late = true, error_code = f.error_code,
    error_message = f.error_message, rpc_code = f.rpc_code, result_hash = f.hash
  FROM unnest($1::uuid[], $2::outcome[], $3::text[], $4::text[], $5::int[], $6::text[])
    AS f(call_id, outcome, error_code, error_message, rpc_code, hash)
  WHERE t.listed_call_id = f.call_id AND t.state = 'DECIDED' AND t.outcome = 'UNKNOWN' AND NOT t.late
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
