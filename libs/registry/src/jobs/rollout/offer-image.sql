-- $1 to $7 the device as it reports itself, $8 job, $9 time, $10 and $11 deadlines, $12 end of the
-- grant, $13 start of the loop window, $14 its limit, $15 process. The target becomes VERIFYING with
-- a new download.
WITH chosen AS MATERIALIZED (
  SELECT t.ctid AS place, t.state AS state_before, d.epoch, d.firmware_version, i.id AS image_id
  FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
  JOIN job_target t ON t.job_id = j.id AND t.device_id = $1, {{asReported}}
  WHERE j.id = $8 AND {{mayBeOffered}} AND {{wastedDownloads}} < $14
    -- OFFSET 0 makes PostgreSQL look up the device in each job. A join could read all targets.
    AND NOT EXISTS (SELECT FROM job o WHERE o.id <> j.id AND o.state IN ('RUNNING', 'PAUSED', 'CANCELLING')
         AND EXISTS (SELECT FROM job_target h WHERE h.job_id = o.id AND h.device_id = $1
           AND h.state IN ('DISPATCHING', 'SENT', 'VERIFYING') OFFSET 0))
  FOR SHARE OF j FOR UPDATE OF t SKIP LOCKED
), updated AS (
  UPDATE job_target t SET state = 'VERIFYING', certainty = 'MAYBE', attempts = t.attempts + 1, claim = t.claim + 1,
    epoch = c.epoch, cut_retries = t.cut_retries + (c.state_before = 'VERIFYING')::int, error_code = NULL,
    error_message = NULL, gateway_id = NULL, retry_at = NULL, baseline_version = c.firmware_version,
    call_id = uuid_v7($9), started_at = $9, deadline_at = NULL, verify_deadline_at = $10, soft_deadline_at = $11
  FROM chosen c WHERE t.job_id = $8 AND t.ctid = c.place
  RETURNING t.wave, c.state_before, t.state, t.outcome, c.image_id
), freed AS (
  UPDATE download o SET expires_at = least(o.expires_at, $9)
  -- `coalesce` keeps the planner from the index of open downloads: with old statistics it would
  -- read all of them.
  WHERE o.job_id = $8 AND o.device_id IN (SELECT $1 FROM updated) AND coalesce(o.completed_at, 'infinity') = 'infinity'
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $8::uuid, 9, wave, target_counter(state_before, outcome), target_counter(state, outcome), 1 FROM updated
)
INSERT INTO download (id, image_id, device_id, job_id, expires_at, server_id)
SELECT uuid_v7($9), image_id, $1, $8, $12, $15 FROM updated RETURNING id
