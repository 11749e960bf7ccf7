-- Stores the ends of claims: $3, $4 the distinct results by hash; $5 to $12 the distinct ends;
-- $13 to $20 the targets, each with the number of its end. Targets that are not in flight under the
-- same claim number stay as they are.
--
-- A retry that was not sent proves nothing about the attempt before it, whose end stays. If the
-- device has the wanted value by now, that attempt has succeeded.
--
-- Each target is found by its key before any is written. In one join with the update, PostgreSQL
-- trusted statistics that are minutes old and know of no target in flight: a batch took over 1 s
-- instead of 20 ms. For the same reason the update takes the job id from the rows that were found,
-- and the device id: by the job id alone, it read the whole job for each target of a new month.
-- LIMIT 1 shows that a key is in one partition only; without it the generic plan looks more
-- expensive than a new plan for each batch, which takes 2 ms.
WITH fenced AS (
  SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), stored AS (
  INSERT INTO job_result (job_id, hash, result) SELECT $1, body.hash, body.result::jsonb
  FROM fenced, unnest($3::text[], $4::text[]) AS body(hash, result) ON CONFLICT DO NOTHING
), ends AS MATERIALIZED (
  SELECT * FROM unnest($5::target_state[], $6::outcome[], $7::send_certainty[], $8::text[], $9::text[], $10::int[],
      $11::text[], $12::bool[])
    WITH ORDINALITY AS e(state, outcome, certainty, error_code, error_message, rpc_code, result_hash, is_end, end_place)
), found AS MATERIALIZED (
  SELECT j.id AS job_id, r.device_id, t.place, t.is_unsent_retry, r.started_at, r.at, r.retry_at, r.verify_deadline_at,
    r.soft_deadline_at, e.is_end AND (NOT t.is_unsent_retry OR e.outcome = 'NO_CHANGE') AS is_new_error, e.*
  FROM fenced j, ends e
  JOIN unnest($13::text[], $14::int[], $15::int[], $16::float8[], $17::float8[], $18::float8[], $19::float8[],
      $20::float8[])
    AS r(device_id, claim, end_place, started_at, at, retry_at, verify_deadline_at, soft_deadline_at) USING (end_place)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS place, t.attempts > 1 AND e.state = 'DECIDED' AND e.certainty = 'NEVER' AS is_unsent_retry
    FROM job_target t
    WHERE t.job_id = $1 AND t.device_id = r.device_id AND t.claim = r.claim AND t.state IN ('DISPATCHING', 'SENT')
    LIMIT 1) AS t
), updated AS (
  UPDATE job_target t SET
    state = f.state,
    outcome = CASE WHEN NOT f.is_unsent_retry THEN f.outcome WHEN f.outcome = 'NO_CHANGE' THEN 'SUCCEEDED'
                   ELSE latest_outcome(t.error_code) END,
    certainty = CASE WHEN f.is_end AND NOT f.is_unsent_retry THEN f.certainty WHEN t.attempts > 1 THEN 'MAYBE' END,
    verify_deadline_at = to_timestamp(f.verify_deadline_at / 1000),
    soft_deadline_at = to_timestamp(f.soft_deadline_at / 1000),
    attempts = t.attempts - (f.is_unsent_retry OR f.state IN ('READY', 'WAITING_DEVICE'))::int,
    call_id = CASE WHEN f.state IN ('DECIDED', 'VERIFYING') THEN t.call_id END,
    started_at = CASE WHEN f.state IN ('DECIDED', 'VERIFYING')
                      THEN coalesce(to_timestamp(f.started_at / 1000), t.started_at) END,
    decided_at = CASE WHEN f.state = 'DECIDED' THEN to_timestamp(f.at / 1000) END,
    deadline_at = NULL, result_hash = f.result_hash, retry_at = to_timestamp(f.retry_at / 1000),
    error_code = CASE WHEN f.is_new_error THEN f.error_code ELSE t.error_code END,
    error_message = CASE WHEN f.is_new_error THEN f.error_message ELSE t.error_message END,
    rpc_code = CASE WHEN f.is_new_error THEN f.rpc_code ELSE t.rpc_code END
  FROM found f WHERE t.job_id = f.job_id AND t.device_id = f.device_id AND t.ctid = f.place
  RETURNING t.wave, t.state, t.outcome
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 2, wave, 'in_flight', target_counter(state, outcome), count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT count(*)::int AS count FROM updated
