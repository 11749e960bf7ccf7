-- Claims READY targets for sending: they become DISPATCHING with a claim number, the id of the
-- call, its deadline, and the session epoch that the call may be sent to. Targets whose device is
-- offline get what the offline policy of the job says.
--
-- An owner whose lease has ended claims nothing. A target of a tool that must not run twice is
-- claimed only once. A device with a call of a disruptive job in flight is skipped; a disruptive
-- job skips devices with any call in flight. [jobs §16]
--
-- Call ids of one claim share their random digits and count up: a random id per row would cost four
-- times as much. A claim changes no indexed column: indexed_state stays READY, so state is compared
-- as well. The update checks `state` again, because locking the picked rows would add half the
-- cost of the write.
WITH fenced AS (
  SELECT j.idempotent, j.disruptive, j.verification, j.offline, j.call_timeout_ms, p.lease_until
  FROM job j JOIN hub_process p ON p.id = j.owner_id AND p.lease_until > now()
  WHERE j.id = $1 AND j.fence = $2 AND j.state = 'RUNNING' FOR SHARE OF j
), holding AS MATERIALIZED (
  SELECT coalesce(array_agg(o.id), '{}') AS ids FROM job o, fenced f
  WHERE o.id <> $1 AND o.state IN ('RUNNING', 'PAUSED', 'CANCELLING') AND (o.disruptive OR f.disruptive)
), picked AS MATERIALIZED (
  SELECT t.ctid AS place, t.device_id FROM job_target t, fenced, holding h
  WHERE t.job_id = $1 AND t.indexed_state = 'READY' AND t.state = 'READY'
    AND (t.attempts = 0 OR fenced.idempotent OR fenced.verification = 'FIRMWARE')
    AND (t.retry_at IS NULL OR t.retry_at <= $4)
    AND (cardinality(h.ids) = 0 OR NOT EXISTS (
      SELECT FROM job_target o WHERE o.job_id = ANY (h.ids) AND o.device_id = t.device_id
        AND o.state IN ('DISPATCHING', 'SENT', 'VERIFYING')))
  ORDER BY t.ordinal LIMIT $3
), alive AS MATERIALIZED (
  SELECT coalesce(array_agg(id), '{}') AS ids FROM hub_process WHERE lease_until > now()
), named AS MATERIALIZED (
  SELECT left(uuid_v7($4)::text, 28) AS call_ids
), found AS (
  SELECT p.place, (n.call_ids || lpad(to_hex(row_number() OVER ()), 8, '0'))::uuid AS call_id, d.epoch, d.gateway_id,
    d.tool_set_hash, d.name, d.firmware_version, f.offline, f.call_timeout_ms, d.id IS NULL AS is_gone,
    (d.online AND d.gateway_id = ANY (a.ids)) IS TRUE AS is_online
  FROM fenced f, alive a, named n, picked p LEFT JOIN device d ON d.id = p.device_id
), located AS (
  SELECT *, is_gone OR (NOT is_online AND offline <> 'WAIT') AS is_ended,
    NOT is_gone AND NOT is_online AND offline = 'FAIL' AS is_rejected FROM found
), updated AS (
  UPDATE job_target t SET
    state = CASE WHEN l.is_ended THEN 'DECIDED' WHEN l.is_online THEN 'DISPATCHING'
                 ELSE 'WAITING_DEVICE' END::target_state,
    outcome = CASE WHEN NOT l.is_ended THEN NULL WHEN t.attempts > 0 THEN latest_outcome(t.error_code)
                   WHEN l.is_rejected THEN 'REJECTED' ELSE 'SKIPPED' END::outcome,
    error_code = CASE WHEN l.is_rejected AND t.attempts = 0 THEN 'DEVICE_OFFLINE' ELSE t.error_code END,
    error_message = CASE WHEN l.is_rejected AND t.attempts = 0 THEN 'The device was offline when its turn came.'
                         ELSE t.error_message END,
    certainty = CASE WHEN l.is_online THEN 'MAYBE' ELSE coalesce(t.certainty, 'NEVER') END::send_certainty,
    decided_at = CASE WHEN l.is_ended THEN $4::timestamptz END,
    attempts = t.attempts + l.is_online::int, claim = t.claim + 1, epoch = l.epoch, gateway_id = l.gateway_id,
    retry_at = NULL, baseline_version = l.firmware_version,
    call_id = CASE WHEN l.is_online THEN l.call_id END,
    started_at = CASE WHEN l.is_online THEN $4::timestamptz END,
    deadline_at = CASE WHEN l.is_online THEN $4::timestamptz + l.call_timeout_ms * interval '1 millisecond' END
  FROM located l WHERE t.job_id = $1 AND t.ctid = l.place AND t.state = 'READY'
  RETURNING t.device_id, t.wave, t.state, t.outcome, t.call_id, t.claim, t.attempts, t.epoch, t.gateway_id,
    l.tool_set_hash, l.name, t.baseline_version
), counted AS (
  INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
  SELECT $1, 1, wave, 'pending', target_counter(state, outcome), count(*)
  FROM updated GROUP BY 3, 4, 5 ORDER BY 3
)
SELECT u.device_id, u.call_id, u.claim, u.attempts, u.epoch, u.gateway_id, u.tool_set_hash, u.name, u.baseline_version,
  (extract(epoch FROM f.lease_until - clock_timestamp()) * 1000)::float8 AS lease_left_ms
FROM updated u, fenced f WHERE u.state = 'DISPATCHING'
