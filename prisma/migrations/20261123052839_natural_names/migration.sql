-- Orders names as people do: numbers as numbers ("Shelf 2" before "Shelf 10"), and without case.
-- Columns and tables of the version before stay: a process of it that still runs finds the same rows.
-- It only loses the indexes of its order, which would cost each write twice.

-- A key whose order as a text is the natural order. Numbers get 20 digits, as the largest 64-bit
-- number has; longer ones keep theirs. The length is limited by what a row of an index can hold.
CREATE FUNCTION natural_key(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT left(regexp_replace(regexp_replace(lower(name), '(\d+)', '00000000000000000000\1', 'g'),
    '(?<!\d)0+(?=\d{20})', '', 'g'), 500)
$$;

-- Stored and not computed by each index: presence changes often, and each change writes all indexes.
ALTER TABLE device ADD COLUMN sort_name text NOT NULL GENERATED ALWAYS AS (natural_key(coalesce(name, ''))) STORED;
ALTER TABLE device_tag ADD COLUMN sort_name text NOT NULL GENERATED ALWAYS AS (natural_key(name)) STORED;

-- Devices without a name come last.
CREATE INDEX device_sort_name_idx ON device ((name IS NULL), sort_name, id);
CREATE INDEX device_model_sort_name_idx ON device (model, (name IS NULL), sort_name, id);
CREATE INDEX device_firmware_version_sort_name_idx ON device (firmware_version, (name IS NULL), sort_name, id);
CREATE INDEX device_tool_set_hash_sort_name_idx ON device (tool_set_hash, (name IS NULL), sort_name, id);
CREATE INDEX device_dialect_sort_name_idx ON device (dialect, (name IS NULL), sort_name, id);
CREATE INDEX device_transport_sort_name_idx ON device (transport, (name IS NULL), sort_name, id);
CREATE INDEX device_tag_sort_name_idx ON device_tag (tag, is_nameless, sort_name, device_id);

DROP INDEX device_name_order_idx;
DROP INDEX device_model_name_idx;
DROP INDEX device_firmware_version_name_idx;
DROP INDEX device_tool_set_hash_name_idx;
DROP INDEX device_dialect_name_idx;
DROP INDEX device_transport_name_idx;
DROP INDEX device_tag_tag_is_nameless_name_device_id_idx;
