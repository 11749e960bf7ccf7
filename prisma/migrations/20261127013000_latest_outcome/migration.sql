-- The outcome of a target that was sent and is not sent again: the end of its latest attempt. A call
-- whose large messages were lost may have run.
CREATE OR REPLACE FUNCTION latest_outcome(error_code text) RETURNS outcome LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN error_code IS NULL THEN 'UNKNOWN'
    WHEN error_code IN ('TIMEOUT', 'SESSION_CLOSED', 'HUB_RESTARTED', 'GATEWAY_UNREACHABLE', 'LARGE_MESSAGES_LOST')
      THEN 'UNKNOWN'
    WHEN error_code IN ('NOT_APPLIED_OR_ROLLED_BACK', 'UPDATE_DID_NOT_START_OR_FAILED') THEN 'VERIFY_FAILED'
    ELSE 'FAILED' END::outcome
$$;
