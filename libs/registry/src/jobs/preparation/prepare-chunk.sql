-- Creates the next targets of a job. $1 job, $2 fence, $3 limit, $4 time; $5, $6, $7: hash, error
-- code and message of each tool set that cannot be called. The condition is on `device d`.
WITH fenced AS (
  SELECT prepared_up_to, offline, waves <> '[]' AS has_waves, firmware_image_id
  FROM job WHERE id = $1 AND fence = $2 AND state = 'PREPARING' FOR UPDATE
), chunk AS MATERIALIZED (
  SELECT d.id, d.tool_set_hash, d.model, d.chip, d.ota_partitions, d.firmware_version,
    d.board_facts, d.elf_sha256,
    (d.online AND g.lease_until > now()) IS TRUE AS is_online
  -- Not as a join: then PostgreSQL sorts all devices that are left, for each chunk.
  FROM device d LEFT JOIN hub_process g ON g.id = d.gateway_id
  WHERE d.id > (SELECT prepared_up_to FROM fenced) AND {{condition}} ORDER BY d.id LIMIT $3
), checked AS (
  SELECT d.id, i.incompatibility, {{message}} AS message
  FROM fenced f, chunk d CROSS JOIN LATERAL (
    SELECT i.*, {{incompatibility}} AS incompatibility
    FROM firmware_image i WHERE i.id = f.firmware_image_id) AS i
), rejected AS (
  SELECT c.*, l.incompatibility, coalesce(l.incompatibility, v.code) AS code,
    coalesce(l.message, v.message) AS message
  FROM chunk c LEFT JOIN unnest($5::text[], $6::text[], $7::text[]) AS v(hash, code, message)
    ON v.hash = c.tool_set_hash
  LEFT JOIN checked l ON l.id = c.id
), judged AS MATERIALIZED (
  -- What ends here for a reason of the device is in wave 0, which rules, gates and the pace ignore.
  SELECT r.id, r.code, r.message, CASE WHEN r.code IS NULL THEN 1 ELSE 0 END AS wave,
    CASE WHEN r.incompatibility = 'ALREADY_CURRENT' THEN 'NO_CHANGE' WHEN r.code IS NOT NULL THEN 'REJECTED'
         WHEN f.has_waves OR r.is_online OR f.offline = 'WAIT' THEN NULL
         WHEN f.offline = 'SKIP' THEN 'SKIPPED' ELSE 'REJECTED' END::outcome AS outcome,
    CASE WHEN r.code IS NOT NULL THEN 'DECIDED' WHEN f.has_waves THEN 'PENDING'
         WHEN NOT r.is_online AND f.offline <> 'WAIT' THEN 'DECIDED'
         WHEN r.is_online THEN 'READY' ELSE 'WAITING_DEVICE' END::target_state AS state
  FROM fenced f, rejected r
), inserted AS (
  INSERT INTO job_target (
    job_id, device_id, ordinal, wave, state, outcome, certainty, error_code, error_message, decided_at)
  SELECT $1, id, hashtextextended(id, hashtextextended($1::text, 0)), wave, state, outcome,
    CASE WHEN outcome IS NOT NULL THEN 'NEVER'::send_certainty END,
    coalesce(code, CASE WHEN outcome = 'REJECTED' THEN 'DEVICE_OFFLINE' END),
    coalesce(message, CASE WHEN outcome = 'REJECTED' THEN 'The device was offline when the job started.' END),
    CASE WHEN outcome IS NOT NULL THEN $4::timestamptz END
  FROM judged
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 0, wave, NULL, target_counter(state, outcome), count(*) FROM judged GROUP BY 3, 5 ORDER BY 3
), advanced AS (
  UPDATE job SET prepared_up_to = (SELECT max(id) FROM chunk) WHERE id = $1 AND EXISTS (SELECT FROM chunk)
)
SELECT count(*)::int AS count, EXISTS (SELECT FROM fenced) AS is_preparing FROM chunk
