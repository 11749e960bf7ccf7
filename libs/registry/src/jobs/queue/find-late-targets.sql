-- Targets whose latest call is one of these and that may still be corrected.
SELECT t.call_id, j.failure_text, j.verification FROM job_target t JOIN job j ON j.id = t.job_id
WHERE t.listed_call_id = ANY ($1::uuid[])
  -- In a CASE no index of failures fits: where statistics say that no target is UNKNOWN, the planner
  -- reads all that are.
  AND CASE t.outcome WHEN 'UNKNOWN' THEN NOT t.late END
