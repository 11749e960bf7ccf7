-- Stores reported states that differ ($1 rows). Returns the devices whose newest session this is,
-- with the previous state of the same tool.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS i(id text, epoch int, tool text, state jsonb, at float8)
), former AS MATERIALIZED (
  SELECT i.id, i.epoch, d.reported_state
  FROM (SELECT id, epoch FROM input ORDER BY id OFFSET 0) i
    CROSS JOIN LATERAL (SELECT d.reported_state FROM device d WHERE d.id = i.id AND d.epoch = i.epoch FOR UPDATE) d
), changed AS (
  UPDATE device d SET reported_state_at = to_timestamp(i.at / 1000),
    reported_state = coalesce(f.reported_state, '{}') || jsonb_build_object(i.tool, i.state)
  FROM former f JOIN input i USING (id, epoch)
  WHERE d.id = f.id AND (f.reported_state -> i.tool) IS DISTINCT FROM i.state
)
SELECT f.id, f.reported_state -> i.tool AS state FROM former f JOIN input i USING (id)
