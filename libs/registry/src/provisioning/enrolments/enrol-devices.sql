-- Enrols xiaozhi devices, $1 as rows. A removed device continues with its epoch. Given names and tags
-- replace former ones.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1)
    AS i(id text, model text, firmware_version text, at float8, client_uuid_hash text, name text, tags text[],
      chip text, ota_partitions int, elf_sha256 text, board_facts jsonb)
), returned AS (
  DELETE FROM removed_device r USING input i WHERE r.device_id = i.id RETURNING r.device_id, r.epoch
)
INSERT INTO device AS d (id, dialect, reachability, model, firmware_version, last_seen_at, enrolled_at,
  client_uuid_hash, epoch, name, tags, chip, ota_partitions, elf_sha256, board_facts)
SELECT i.id, 'XIAOZHI', 'ALWAYS', i.model, i.firmware_version, to_timestamp(i.at / 1000),
  to_timestamp(i.at / 1000), i.client_uuid_hash, coalesce(r.epoch, 0), i.name, coalesce(i.tags, '{}'),
  i.chip, i.ota_partitions, i.elf_sha256, i.board_facts
FROM input i LEFT JOIN returned r ON r.device_id = i.id ORDER BY i.id
ON CONFLICT (id) DO UPDATE SET
  model = coalesce(excluded.model, d.model),
  firmware_version = coalesce(d.firmware_version, excluded.firmware_version),
  chip = coalesce(excluded.chip, d.chip), ota_partitions = coalesce(excluded.ota_partitions, d.ota_partitions),
  elf_sha256 = coalesce(excluded.elf_sha256, d.elf_sha256),
  board_facts = coalesce(excluded.board_facts, d.board_facts),
  last_seen_at = greatest(d.last_seen_at, excluded.last_seen_at), enrolled_at = excluded.enrolled_at,
  client_uuid_hash = excluded.client_uuid_hash, name = coalesce(excluded.name, d.name),
  tags = coalesce((SELECT i.tags FROM input i WHERE i.id = excluded.id), d.tags)
