-- Marks targets that were delivered to a gateway and are unanswered for a second. Until their
-- outcome, the certainty YES includes bytes that still wait in the hub. Skips targets that a
-- flush is writing, so the two cannot deadlock.
WITH picked AS MATERIALIZED (
  SELECT t.ctid AS place
  FROM job j JOIN job_target t ON t.job_id = j.id AND t.state = 'DISPATCHING' AND t.device_id = ANY ($3)
  WHERE j.id = $1 AND j.fence = $2 FOR UPDATE OF t SKIP LOCKED
)
UPDATE job_target t SET state = 'SENT', certainty = 'YES' FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place
