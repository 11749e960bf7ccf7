-- A board that is released loses its Client-Id and may come back with another one, so its history
-- for limited keys begins again. The first Client-Id of a registered device is no change.
CREATE OR REPLACE FUNCTION device_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE device SET
    known_since = CASE
      WHEN OLD.enrolled_at IS DISTINCT FROM NEW.enrolled_at
        OR (OLD.client_uuid_hash IS NOT NULL AND OLD.client_uuid_hash IS DISTINCT FROM NEW.client_uuid_hash)
        OR OLD.dialect <> NEW.dialect OR OLD.address <> NEW.address THEN clock_timestamp()
      ELSE known_since END,
    model_since = CASE WHEN OLD.model IS DISTINCT FROM NEW.model THEN clock_timestamp() ELSE model_since END,
    traits_since = CASE
      WHEN (OLD.firmware_version, OLD.tool_set_hash, OLD.transport)
        IS DISTINCT FROM (NEW.firmware_version, NEW.tool_set_hash, NEW.transport) THEN clock_timestamp()
      ELSE traits_since END
  WHERE id = NEW.id;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER device_changed
  AFTER UPDATE OF enrolled_at, client_uuid_hash, dialect, address, model, firmware_version, tool_set_hash, transport
  ON device FOR EACH ROW
  WHEN (OLD.enrolled_at IS DISTINCT FROM NEW.enrolled_at
    OR (OLD.client_uuid_hash IS NOT NULL AND OLD.client_uuid_hash IS DISTINCT FROM NEW.client_uuid_hash)
    OR OLD.dialect <> NEW.dialect OR OLD.address <> NEW.address
    OR (OLD.model, OLD.firmware_version, OLD.tool_set_hash, OLD.transport)
      IS DISTINCT FROM (NEW.model, NEW.firmware_version, NEW.tool_set_hash, NEW.transport))
  EXECUTE FUNCTION device_changed();
