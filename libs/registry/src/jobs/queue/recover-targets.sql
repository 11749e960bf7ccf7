-- Decides about targets that a former owner left in flight; it is not known whether they were sent.
-- An idempotent tool is sent again, with the attempt counted and its error kept. A tool with a
-- verification is verified. All others end UNKNOWN. A claimed target is still READY in the index.
WITH fenced AS (
  SELECT CASE WHEN idempotent THEN 'READY' WHEN verification <> 'NONE' THEN 'VERIFYING' ELSE 'DECIDED' END AS next,
    verification = 'READBACK' AS is_read
  FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), updated AS (
  UPDATE job_target t SET
    state = f.next::target_state, outcome = CASE WHEN f.next = 'DECIDED' THEN 'UNKNOWN' END::outcome,
    decided_at = CASE WHEN f.next = 'DECIDED' THEN $3::timestamptz END,
    error_code = 'HUB_RESTARTED',
    error_message = 'The hub stopped while this call was in flight; the device may have run it.',
    certainty = 'MAYBE', deadline_at = NULL, started_at = CASE WHEN f.next <> 'READY' THEN t.started_at END,
    retry_at = CASE WHEN f.next = 'VERIFYING' AND f.is_read THEN $3::timestamptz END,
    verify_deadline_at = CASE WHEN f.next = 'VERIFYING' THEN t.started_at + $4 * interval '1 millisecond' END,
    soft_deadline_at = CASE WHEN f.next = 'VERIFYING' THEN t.started_at + $5 * interval '1 millisecond' END
  FROM fenced f
  WHERE t.job_id = $1 AND ((t.indexed_state = 'READY' AND t.state = 'DISPATCHING') OR t.indexed_state = 'SENT')
  RETURNING t.device_id, t.wave, t.state, t.outcome
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 5, wave, 'in_flight', target_counter(state, outcome), count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT count(*) FILTER (WHERE state = 'READY')::int AS resent,
  count(*) FILTER (WHERE state = 'VERIFYING')::int AS verifying,
  count(*) FILTER (WHERE state = 'DECIDED')::int AS unknown,
  coalesce((array_agg(device_id) FILTER (WHERE state = 'DECIDED'))[1:$6], '{}') AS unknown_device_ids
FROM updated
