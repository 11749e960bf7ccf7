-- By hand: columns are added with the time of the migration, which keeps the tables as they are; new rows then get the time of their own.
ALTER TABLE "device" ADD COLUMN     "dial_by_admin" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "known_since" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
ADD COLUMN     "labels_since" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
ADD COLUMN     "model_since" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
ADD COLUMN     "traits_since" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
ALTER TABLE "device" ALTER COLUMN "known_since" SET DEFAULT clock_timestamp(),
ALTER COLUMN "labels_since" SET DEFAULT clock_timestamp(),
ALTER COLUMN "model_since" SET DEFAULT clock_timestamp(),
ALTER COLUMN "traits_since" SET DEFAULT clock_timestamp();

ALTER TABLE "device_tag" ADD COLUMN     "since" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
ALTER TABLE "device_tag" ALTER COLUMN "since" SET DEFAULT clock_timestamp();

ALTER TABLE "device_group" ADD COLUMN     "filter_since" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
ALTER TABLE "device_group" ALTER COLUMN "filter_since" SET DEFAULT clock_timestamp();

ALTER TABLE "job" ADD COLUMN     "secret_arguments" BYTEA;

ALTER TABLE "audit_entry" ADD COLUMN     "key_id" TEXT;

-- Devices that are dialled already stay reachable: their addresses were given under the former rule.
UPDATE "device" SET "dial_by_admin" = true WHERE "address" IS NOT NULL;

-- The tags that a device keeps keep their time.
CREATE OR REPLACE FUNCTION "device_listed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM "device_tag" WHERE "tag" = ANY (OLD."tags") AND "device_id" = OLD."id";
    DELETE FROM "device_search" WHERE "device_id" = OLD."id";
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM "device_tag" WHERE "tag" = ANY (OLD."tags") AND "tag" <> ALL (NEW."tags") AND "device_id" = OLD."id";
    UPDATE "device" SET "labels_since" = clock_timestamp() WHERE "id" = NEW."id";
  END IF;
  INSERT INTO "device_tag" ("tag", "device_id", "is_nameless", "name")
    SELECT DISTINCT t, NEW."id", NEW."name" IS NULL, coalesce(NEW."name", '') FROM unnest(NEW."tags") AS t
    ON CONFLICT ("tag", "device_id") DO UPDATE SET "is_nameless" = excluded."is_nameless", "name" = excluded."name";
  INSERT INTO "device_search" AS s ("device_id", "text") VALUES (NEW."id", lower(NEW."id" || E'\n' || coalesce(NEW."name", '')))
    ON CONFLICT ("device_id") DO UPDATE SET "text" = excluded."text" WHERE s."text" <> excluded."text";
  RETURN NULL;
END
$$;

-- What filters can name, but for name and tags. AFTER, because a BEFORE trigger locks the row at every update, and most updates are those of presence.
CREATE FUNCTION "device_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "device" SET
    "known_since" = CASE WHEN OLD."enrolled_at" IS DISTINCT FROM NEW."enrolled_at" OR OLD."client_uuid_hash" <> NEW."client_uuid_hash"
      OR OLD."dialect" <> NEW."dialect" OR OLD."address" <> NEW."address" THEN clock_timestamp() ELSE "known_since" END,
    "model_since" = CASE WHEN OLD."model" IS DISTINCT FROM NEW."model" THEN clock_timestamp() ELSE "model_since" END,
    "traits_since" = CASE WHEN (OLD."firmware_version", OLD."tool_set_hash", OLD."transport")
      IS DISTINCT FROM (NEW."firmware_version", NEW."tool_set_hash", NEW."transport") THEN clock_timestamp() ELSE "traits_since" END
  WHERE "id" = NEW."id";
  RETURN NULL;
END
$$;
CREATE TRIGGER "device_changed" AFTER UPDATE OF "enrolled_at", "client_uuid_hash", "dialect", "address", "model", "firmware_version", "tool_set_hash", "transport"
  ON "device" FOR EACH ROW
  WHEN (OLD."enrolled_at" IS DISTINCT FROM NEW."enrolled_at" OR OLD."client_uuid_hash" <> NEW."client_uuid_hash" OR OLD."dialect" <> NEW."dialect"
    OR OLD."address" <> NEW."address" OR (OLD."model", OLD."firmware_version", OLD."tool_set_hash", OLD."transport")
      IS DISTINCT FROM (NEW."model", NEW."firmware_version", NEW."tool_set_hash", NEW."transport"))
  EXECUTE FUNCTION "device_changed"();

CREATE FUNCTION "group_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."filter_since" := clock_timestamp();
  RETURN NEW;
END
$$;
CREATE TRIGGER "group_changed" BEFORE UPDATE OF "filter" ON "device_group" FOR EACH ROW
  WHEN (OLD."filter" IS DISTINCT FROM NEW."filter") EXECUTE FUNCTION "group_changed"();

-- The lowest UUIDv7 of a moment: what has a lower one came before it. STABLE and not STRICT, so that PostgreSQL writes it into the statement.
CREATE FUNCTION "uuid_from"("at" timestamptz) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(ceil(extract(epoch FROM "at") * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
