-- Grants downloads to claimed targets as far as there is room. $1 job, $2 fence, $3 devices, $4 time,
-- $5 end of the grant, $6 start of the loop window, $7 limit of the loop, $8 room. A target that was
-- granted one before and was put back gives that place back.
WITH wanted AS MATERIALIZED (
  SELECT w.device_id, w.number, i.id AS image_id, {{incompatibility}} AS incompatibility,
    {{wastedDownloads}} AS wasted,
    d.model, d.chip, d.board_facts, d.elf_sha256, i.chip AS image_chip, i.version, d.gateway_id AS server_id
  FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id,
    unnest($3::text[]) WITH ORDINALITY AS w(device_id, number) JOIN device d ON d.id = w.device_id
  WHERE j.id = $1 AND j.fence = $2 AND j.state = 'RUNNING'
), chosen AS (
  SELECT device_id, image_id, server_id, row_number() OVER (ORDER BY number) AS place
  FROM wanted WHERE incompatibility IS NULL AND wasted < $7
), added AS (
  INSERT INTO download (id, image_id, device_id, job_id, expires_at, server_id)
  SELECT uuid_v7($4), image_id, device_id, $1, $5, server_id FROM chosen WHERE place <= $8 RETURNING id, device_id
), freed AS (
  UPDATE download o SET expires_at = least(o.expires_at, $4)
  -- `coalesce` keeps the planner from the index of open downloads: with old statistics it would
  -- read all of them.
  WHERE o.job_id = $1 AND coalesce(o.completed_at, 'infinity') = 'infinity'
    AND o.device_id IN (SELECT device_id FROM chosen WHERE place <= $8)
)
SELECT d.device_id, d.incompatibility, {{message}} AS message, d.wasted,
  a.id AS download_id
FROM wanted d JOIN firmware_image i ON i.id = d.image_id LEFT JOIN added a ON a.device_id = d.device_id
