-- No deadline of a target in VERIFYING is before $3.
UPDATE job_target t SET verify_deadline_at = greatest(t.verify_deadline_at, $3),
  soft_deadline_at = CASE WHEN t.soft_deadline_at IS NOT NULL THEN greatest(t.soft_deadline_at, $3) END
FROM job j
WHERE j.id = $1 AND j.fence = $2 AND t.job_id = j.id AND t.indexed_state = 'VERIFYING'
  AND (t.verify_deadline_at < $3 OR t.soft_deadline_at < $3)
