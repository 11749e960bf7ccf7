-- Claims entries for sending ($1 rows): from here on a set may be under way. A device that another
-- desired state is setting, or whose call of a disruptive job is in flight, is left out, and so is a
-- former generation, except during a roll-out. The caller holds the shared lock of claims. [jobs §16]
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(
    desired_state_id uuid, fence int, device_id text, observed_generation int, reverts jsonb)
), fenced AS MATERIALIZED (
  SELECT s.id, s.generation, s.settled_generation
  FROM desired_state s JOIN hub_process p ON p.id = s.owner_id AND p.lease_until > now()
  WHERE s.owner_id = $2 AND s.enabled AND (s.id, s.fence) IN (SELECT DISTINCT desired_state_id, fence FROM input)
  ORDER BY s.id FOR SHARE OF s
), holding AS MATERIALIZED (
  SELECT coalesce(array_agg(o.id), '{}') AS ids FROM job o
  WHERE o.state IN ('RUNNING', 'PAUSED', 'CANCELLING') AND o.disruptive
), chosen AS MATERIALIZED (
  SELECT DISTINCT ON (i.device_id) i.* FROM input i JOIN fenced f ON f.id = i.desired_state_id
  WHERE f.settled_generation < f.generation OR i.observed_generation = f.generation
  ORDER BY i.device_id, i.desired_state_id
), picked AS MATERIALIZED (
  SELECT c.* FROM chosen c, holding h
  -- OFFSET 0 asks for the entries of each device: a join would read all entries.
  WHERE NOT EXISTS (SELECT FROM desired_state_target o WHERE o.device_id = c.device_id AND o.is_sending OFFSET 0)
    AND (cardinality(h.ids) = 0 OR NOT EXISTS (
      SELECT FROM job_target o WHERE o.job_id = ANY (h.ids) AND o.device_id = c.device_id
        AND o.state IN ('DISPATCHING', 'SENT', 'VERIFYING')))
)
UPDATE desired_state_target t SET is_sending = true, attempts = t.attempts + 1, next_try_at = NULL,
  due_at = t.edge_at, reverts = p.reverts
FROM picked p
WHERE t.desired_state_id = p.desired_state_id AND t.device_id = p.device_id
  -- In a CASE no index of states fits. Where statistics say that all devices are in sync, the planner
  -- would read all entries out of sync, for each device of the claim.
  AND CASE t.state WHEN 'APPLYING' THEN t.observed_generation = p.observed_generation AND NOT t.is_sending END
RETURNING t.desired_state_id, t.device_id
