-- RETRY_WAIT targets whose time has come become READY, longest waiting first; at most $3. Both
-- states are one counter.
WITH fenced AS (
  SELECT id FROM job WHERE id = $1 AND fence = $2 FOR SHARE
), picked AS MATERIALIZED (
  SELECT t.ctid AS place FROM fenced, job_target t
  WHERE t.job_id = $1 AND t.indexed_state = 'RETRY_WAIT' AND t.retry_at <= $4
  ORDER BY t.retry_at LIMIT $3 FOR UPDATE OF t SKIP LOCKED
), updated AS (
  UPDATE job_target t SET state = 'READY', retry_at = NULL
  FROM picked p WHERE t.job_id = $1 AND t.ctid = p.place RETURNING 1
)
SELECT (SELECT count(*)::int FROM updated) AS released, (
  SELECT min(t.retry_at) FROM job_target t
  WHERE t.job_id = $1 AND t.indexed_state = 'RETRY_WAIT' AND t.retry_at > $4) AS next_at
