-- Moves the starts of $1 rows after the clock was set, where the stored start is still within $2 s of
-- the noted one: the device may have started again since, with another gateway.
WITH input AS MATERIALIZED (
  SELECT i.id, to_timestamp(i.known_at / 1000) AS known_at, to_timestamp(i.moved_to / 1000) AS moved_to
  FROM json_to_recordset($1) AS i(id text, known_at float8, moved_to float8)
), locked AS MATERIALIZED (
  SELECT d.id, i.moved_to FROM device d JOIN input i USING (id)
  WHERE d.booted_at BETWEEN i.known_at - $2 * interval '1 second' AND i.known_at + $2 * interval '1 second'
  ORDER BY d.id FOR UPDATE OF d
)
UPDATE device d SET booted_at = l.moved_to FROM locked l WHERE d.id = l.id
