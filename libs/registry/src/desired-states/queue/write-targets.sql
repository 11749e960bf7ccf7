-- Writes the entries of desired states that the process $2 owns, and their counters. An owner whose
-- lease has ended, or that lost the desired state meanwhile, writes nothing. The former states are
-- read without a lock: only the owner changes them, and a lock would skip rows that are written here.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(
    desired_state_id uuid, fence int, device_id text, is_gone boolean, state text, since float8,
    observed_generation int, synced_generation int, reported jsonb, reported_at float8, attempts int,
    next_try_at float8, edge_at float8, due_at float8, reverts jsonb, error_code text, error_message text,
    rpc_code int, blocked_by uuid[], is_sending boolean)
), fenced AS MATERIALIZED (
  SELECT s.id FROM desired_state s JOIN hub_process p ON p.id = s.owner_id AND p.lease_until > now()
  WHERE s.owner_id = $2 AND s.enabled AND (s.id, s.fence) IN (SELECT DISTINCT desired_state_id, fence FROM input)
  ORDER BY s.id FOR SHARE OF s
), allowed AS MATERIALIZED (
  SELECT i.* FROM input i JOIN fenced f ON f.id = i.desired_state_id ORDER BY i.desired_state_id, i.device_id
), former AS MATERIALIZED (
  SELECT a.desired_state_id, a.device_id, t.state
  FROM allowed a CROSS JOIN LATERAL (
    SELECT t.state FROM desired_state_target t
    WHERE t.desired_state_id = a.desired_state_id AND t.device_id = a.device_id OFFSET 0) t
), removed AS (
  DELETE FROM desired_state_target t USING allowed a
  WHERE a.is_gone AND t.desired_state_id = a.desired_state_id AND t.device_id = a.device_id
), written AS (
  INSERT INTO desired_state_target (desired_state_id, device_id, state, since, observed_generation,
    synced_generation, reported, reported_at, attempts, next_try_at, edge_at, due_at, reverts, error_code,
    error_message, rpc_code, blocked_by, is_sending)
  SELECT desired_state_id, device_id, state, to_timestamp(since / 1000), observed_generation,
    -- A null in JSON is a value. It was read, where there is a time.
    synced_generation, CASE WHEN reported_at IS NOT NULL THEN coalesce(reported, 'null') END,
    to_timestamp(reported_at / 1000), attempts, to_timestamp(next_try_at / 1000),
    to_timestamp(edge_at / 1000), to_timestamp(due_at / 1000), reverts, error_code, error_message, rpc_code,
    blocked_by, is_sending
  FROM allowed WHERE NOT is_gone
  ON CONFLICT (desired_state_id, device_id) DO UPDATE SET
    state = excluded.state, since = excluded.since, observed_generation = excluded.observed_generation,
    synced_generation = excluded.synced_generation, reported = excluded.reported,
    reported_at = excluded.reported_at, attempts = excluded.attempts, next_try_at = excluded.next_try_at,
    edge_at = excluded.edge_at, due_at = excluded.due_at, reverts = excluded.reverts,
    error_code = excluded.error_code, error_message = excluded.error_message, rpc_code = excluded.rpc_code,
    blocked_by = excluded.blocked_by, is_sending = excluded.is_sending
  RETURNING desired_state_id, state
), moved AS (
  SELECT desired_state_id, state, sum(n)::int AS n
  FROM (SELECT desired_state_id, state, 1 AS n FROM written
        UNION ALL SELECT desired_state_id, state, -1 FROM former) AS moves
  GROUP BY desired_state_id, state HAVING sum(n) <> 0 ORDER BY desired_state_id, state
), counted AS (
  INSERT INTO desired_state_counter (desired_state_id, state, targets)
  SELECT desired_state_id, state, n FROM moved
  ON CONFLICT (desired_state_id, state) DO UPDATE SET targets = desired_state_counter.targets + excluded.targets
)
SELECT desired_state_id, device_id FROM allowed
