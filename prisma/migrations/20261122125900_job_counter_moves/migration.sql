
-- The counter that a target in this state and outcome belongs to.
CREATE FUNCTION target_counter(state target_state, outcome outcome) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE state
    WHEN 'DECIDED' THEN lower(outcome::text)
    WHEN 'WAITING_DEVICE' THEN 'waiting_device'
    WHEN 'DISPATCHING' THEN 'in_flight'
    WHEN 'SENT' THEN 'in_flight'
    WHEN 'VERIFYING' THEN 'verifying'
    ELSE 'pending' END
$$;

-- The outcome of a target that was sent and is not sent again: the end of its latest attempt.
CREATE FUNCTION latest_outcome(error_code text) RETURNS outcome LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN error_code IS NULL THEN 'UNKNOWN'
    WHEN error_code IN ('TIMEOUT', 'SESSION_CLOSED', 'HUB_RESTARTED', 'GATEWAY_UNREACHABLE') THEN 'UNKNOWN'
    WHEN error_code IN ('NOT_APPLIED_OR_ROLLED_BACK', 'UPDATE_DID_NOT_START_OR_FAILED') THEN 'VERIFY_FAILED'
    ELSE 'FAILED' END::outcome
$$;

-- Statements that move targets insert here how many moved from one counter to another; `counter_before` is NULL for new targets.
-- The trigger adds the moves to one shard of the counters. Each statement has its own shard, so that they do not wait for each
-- other's row locks. Rows are inserted in the order of jobs and waves, so that two statements cannot deadlock.
CREATE VIEW job_counter_move AS
  SELECT job_id, shard, wave, NULL::text AS counter_before, NULL::text AS counter_after, NULL::bigint AS targets FROM job_counter;

CREATE FUNCTION job_counter_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.counter_before = NEW.counter_after THEN
    RETURN NEW;
  END IF;
  INSERT INTO job_counter AS c (job_id, wave, shard, pending, waiting_device, in_flight, verifying, succeeded, no_change,
    failed, rejected, verify_failed, unknown, expired, cancelled, skipped)
  SELECT NEW.job_id, NEW.wave, NEW.shard, d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11], d[12], d[13]
  FROM (SELECT ARRAY(
    SELECT NEW.targets * ((NEW.counter_after = name)::int - coalesce((NEW.counter_before = name)::int, 0))
    FROM unnest(ARRAY['pending', 'waiting_device', 'in_flight', 'verifying', 'succeeded', 'no_change', 'failed', 'rejected',
      'verify_failed', 'unknown', 'expired', 'cancelled', 'skipped']) WITH ORDINALITY AS counters(name, place)
    ORDER BY place) AS d) AS differences
  ON CONFLICT (job_id, wave, shard) DO UPDATE SET
    pending = c.pending + excluded.pending, waiting_device = c.waiting_device + excluded.waiting_device,
    in_flight = c.in_flight + excluded.in_flight, verifying = c.verifying + excluded.verifying,
    succeeded = c.succeeded + excluded.succeeded, no_change = c.no_change + excluded.no_change,
    failed = c.failed + excluded.failed, rejected = c.rejected + excluded.rejected,
    verify_failed = c.verify_failed + excluded.verify_failed, unknown = c.unknown + excluded.unknown,
    expired = c.expired + excluded.expired, cancelled = c.cancelled + excluded.cancelled,
    skipped = c.skipped + excluded.skipped;
  RETURN NEW;
END
$$;

CREATE TRIGGER job_counter_moved INSTEAD OF INSERT ON job_counter_move
  FOR EACH ROW EXECUTE FUNCTION job_counter_moved();
