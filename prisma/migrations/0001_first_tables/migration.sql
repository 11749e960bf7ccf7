-- The first migration: all tables, by noun. The meaning of each column is in prisma/schema.prisma.
--
-- Prisma cannot express partitions, partial and expression indexes, generated columns, fill factors,
-- functions and triggers. `npm run db:migration` never writes them: add them to its output manually.

-- -------------------------------------------------------------------------------------------------
-- Types

CREATE TYPE dialect AS ENUM ('XIAOZHI', 'MCPU');
CREATE TYPE transport_kind AS ENUM ('MQTT', 'WEBSOCKET', 'TCP');
CREATE TYPE reachability AS ENUM ('ALWAYS', 'IN_CONVERSATION');
CREATE TYPE verification AS ENUM ('NONE', 'READBACK', 'REBOOT', 'FIRMWARE');
CREATE TYPE send_certainty AS ENUM ('NEVER', 'MAYBE', 'YES');
CREATE TYPE outcome AS ENUM (
  'SUCCEEDED', 'NO_CHANGE', 'FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'NOT_SENT', 'EXPIRED', 'CANCELLED',
  'SKIPPED');
CREATE TYPE job_state AS ENUM (
  'AWAITING_APPROVAL', 'SCHEDULED', 'PREPARING', 'RUNNING', 'PAUSED', 'CANCELLING', 'FINISHED');
CREATE TYPE job_conclusion AS ENUM ('SUCCEEDED', 'PARTIAL', 'FAILED', 'ABORTED', 'CANCELLED', 'EXPIRED', 'DENIED');
CREATE TYPE pause_reason AS ENUM ('USER', 'WAVE_GATE', 'ABORT_RULE', 'WINDOW_CLOSED');
CREATE TYPE offline_policy AS ENUM ('WAIT', 'SKIP', 'FAIL');
CREATE TYPE target_state AS ENUM (
  'PENDING', 'READY', 'WAITING_DEVICE', 'DISPATCHING', 'SENT', 'VERIFYING', 'RETRY_WAIT', 'DECIDED');
CREATE TYPE upload_kind AS ENUM ('PHOTO', 'SNAPSHOT', 'IMAGE');
CREATE TYPE firmware_kind AS ENUM ('FIRMWARE', 'ASSETS');
CREATE TYPE wave_gate AS ENUM ('AUTO', 'MANUAL');
CREATE TYPE role AS ENUM ('VIEWER', 'OPERATOR', 'FIRMWARE', 'ADMIN');

-- -------------------------------------------------------------------------------------------------
-- Functions over ids and versions

-- Makes a UUIDv7 of a given time: 48 bits of milliseconds, then version, variant and random bits.
-- PostgreSQL has this function only from version 18 on.
CREATE FUNCTION uuid_v7("at" timestamptz) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(
    set_bit(
      set_bit(
        overlay(uuid_send(gen_random_uuid())
          PLACING substring(int8send(round(extract(epoch FROM "at") * 1000)::bigint) FROM 3) FROM 1 FOR 6),
        52, 1),
      53, 1),
    'hex')::uuid
$$;

-- Returns the lowest UUIDv7 of a time: all ids below it are older. The function is STABLE and not
-- STRICT, so that PostgreSQL inlines it into the statement.
CREATE FUNCTION uuid_from("at" timestamptz) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(ceil(extract(epoch FROM "at") * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Returns a dotted version in the order in which devices compare versions: number by number, a prefix
-- before its extensions. NULL if the version has no number.
CREATE FUNCTION version_key(version text) RETURNS int[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT array_agg(coalesce(left(substring(part FROM '[0-9]+'), 9), '0')::int ORDER BY place)
  FROM unnest(string_to_array(version, '.')) WITH ORDINALITY AS parts(part, place)
  WHERE version ~ '[0-9]'
$$;

-- -------------------------------------------------------------------------------------------------
-- Processes

-- The fill factor leaves room for HOT updates: each lease is renewed every few seconds.
CREATE TABLE hub_process (
  id            uuid NOT NULL,
  host          text NOT NULL,
  pid           int NOT NULL,
  started_at    timestamptz(3) NOT NULL,
  lease_until   timestamptz(3) NOT NULL,
  voice_servers jsonb NOT NULL DEFAULT '[]',
  roles         text[] NOT NULL DEFAULT ARRAY[]::text[],
  version       text NOT NULL DEFAULT '',
  PRIMARY KEY (id)
) WITH (fillfactor = 50);

-- Secrets that all processes share.
CREATE TABLE hub_secret (
  name       text NOT NULL,
  secret     text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (name)
);

-- -------------------------------------------------------------------------------------------------
-- Devices

-- Presence changes often, so a fifth of each page stays free for HOT updates.
CREATE TABLE device (
  id                       text NOT NULL,
  name                     text,
  dialect                  dialect NOT NULL,
  model                    text,
  firmware_version         text,
  reachability             reachability NOT NULL,
  transport                transport_kind,
  tags                     text[] DEFAULT ARRAY[]::text[],
  epoch                    int NOT NULL DEFAULT 0,
  online                   boolean NOT NULL DEFAULT false,
  gateway_id               uuid,
  connected_at             timestamptz(3),
  last_seen_at             timestamptz(3),
  tool_set_hash            text,
  tools_discovered_at      timestamptz(3),
  tools_stale              boolean NOT NULL DEFAULT false,
  created_at               timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  client_uuid_hash         text,
  enrolled_at              timestamptz(3),
  preferred_transport      transport_kind,
  time_zone                text,
  chip                     text,
  elf_sha256               text,
  ota_partitions           int,
  reported_state           jsonb,
  reported_state_at        timestamptz(3),
  address                  text,
  dialer_id                uuid,
  voice_urls               text[] DEFAULT ARRAY[]::text[],
  admit_without_code_until timestamptz(3),
  booted_at                timestamptz(3),
  booted_version           text,
  dial_by_admin            boolean NOT NULL DEFAULT false,
  known_since              timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  labels_since             timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  model_since              timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  traits_since             timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (id)
) WITH (fillfactor = 80);
CREATE INDEX device_tags_idx ON device USING gin (tags);
CREATE INDEX device_model_id_idx ON device (model, id);
CREATE INDEX device_firmware_version_id_idx ON device (firmware_version, id);
CREATE INDEX device_tool_set_hash_id_idx ON device (tool_set_hash, id);
-- Orders of device lists. Devices without a name come last.
CREATE INDEX device_name_order_idx ON device ((name IS NULL), (coalesce(name, '')), id);
CREATE INDEX device_last_seen_order_idx ON device ((coalesce(last_seen_at, '-infinity'::timestamptz)) DESC, id);
CREATE INDEX device_version_key_idx ON device (version_key(firmware_version));
-- Filters of device lists, in the order of names: a page costs the same at any position.
CREATE INDEX device_model_name_idx ON device (model, (name IS NULL), (coalesce(name, '')), id);
CREATE INDEX device_firmware_version_name_idx ON device (firmware_version, (name IS NULL), (coalesce(name, '')), id);
CREATE INDEX device_tool_set_hash_name_idx ON device (tool_set_hash, (name IS NULL), (coalesce(name, '')), id);
CREATE INDEX device_dialect_name_idx ON device (dialect, (name IS NULL), (coalesce(name, '')), id);
CREATE INDEX device_transport_name_idx ON device (transport, (name IS NULL), (coalesce(name, '')), id);
-- Small subsets of a healthy fleet.
CREATE INDEX device_gateway_online_idx ON device (gateway_id) WHERE online;
CREATE INDEX device_offline_idx ON device (id) WHERE NOT online;
CREATE INDEX device_tools_stale_idx ON device (id) WHERE tools_stale;
CREATE INDEX device_dialled_idx ON device (id) WHERE address IS NOT NULL;

-- The search text of a device. In `device` its index took two thirds of the time of a presence update.
CREATE TABLE device_search (
  device_id text NOT NULL,
  text      text NOT NULL,
  PRIMARY KEY (device_id)
);

-- Trigrams make the search fast. Where the extension is not available the search reads the whole table.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX device_search_text_idx ON device_search USING gin (text gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available: searching devices reads the whole table (%)', SQLERRM;
END
$$;

-- One row per device and tag, in the orders of lists.
CREATE TABLE device_tag (
  tag         text NOT NULL,
  device_id   text NOT NULL,
  is_nameless boolean NOT NULL,
  name        text NOT NULL,
  since       timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tag, device_id)
);
CREATE INDEX device_tag_tag_is_nameless_name_device_id_idx ON device_tag (tag, is_nameless, name, device_id);

-- Keeps device_search and device_tag. A tag that the device keeps also keeps its time.
CREATE FUNCTION device_listed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM device_tag WHERE tag = ANY (OLD.tags) AND device_id = OLD.id;
    DELETE FROM device_search WHERE device_id = OLD.id;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM device_tag WHERE tag = ANY (OLD.tags) AND tag <> ALL (NEW.tags) AND device_id = OLD.id;
    UPDATE device SET labels_since = clock_timestamp() WHERE id = NEW.id;
  END IF;
  INSERT INTO device_tag (tag, device_id, is_nameless, name)
    SELECT DISTINCT t, NEW.id, NEW.name IS NULL, coalesce(NEW.name, '') FROM unnest(NEW.tags) AS t
    ON CONFLICT (tag, device_id) DO UPDATE SET is_nameless = excluded.is_nameless, name = excluded.name;
  INSERT INTO device_search AS s (device_id, text) VALUES (NEW.id, lower(NEW.id || E'\n' || coalesce(NEW.name, '')))
    ON CONFLICT (device_id) DO UPDATE SET text = excluded.text WHERE s.text <> excluded.text;
  RETURN NULL;
END
$$;
CREATE TRIGGER device_listed AFTER INSERT OR DELETE ON device FOR EACH ROW EXECUTE FUNCTION device_listed();
CREATE TRIGGER device_listed_anew AFTER UPDATE OF name, tags ON device FOR EACH ROW
  WHEN ((OLD.name, OLD.tags) IS DISTINCT FROM (NEW.name, NEW.tags)) EXECUTE FUNCTION device_listed();

-- Records when the values that key filters can name last changed, except name and tags (above).
-- AFTER, because a BEFORE trigger locks the row at each update, and most updates are of presence.
CREATE FUNCTION device_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE device SET
    known_since = CASE
      WHEN OLD.enrolled_at IS DISTINCT FROM NEW.enrolled_at OR OLD.client_uuid_hash <> NEW.client_uuid_hash
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
CREATE TRIGGER device_changed
  AFTER UPDATE OF enrolled_at, client_uuid_hash, dialect, address, model, firmware_version, tool_set_hash, transport
  ON device FOR EACH ROW
  WHEN (OLD.enrolled_at IS DISTINCT FROM NEW.enrolled_at OR OLD.client_uuid_hash <> NEW.client_uuid_hash
    OR OLD.dialect <> NEW.dialect OR OLD.address <> NEW.address
    OR (OLD.model, OLD.firmware_version, OLD.tool_set_hash, OLD.transport)
      IS DISTINCT FROM (NEW.model, NEW.firmware_version, NEW.tool_set_hash, NEW.transport))
  EXECUTE FUNCTION device_changed();

-- Saved filters.
CREATE TABLE device_group (
  id           uuid NOT NULL,
  name         text NOT NULL,
  filter       jsonb NOT NULL,
  time_zone    text,
  created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  voice_urls   text[] DEFAULT ARRAY[]::text[],
  filter_since timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX device_group_name_key ON device_group (name);

CREATE FUNCTION group_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.filter_since := clock_timestamp();
  RETURN NEW;
END
$$;
CREATE TRIGGER group_changed BEFORE UPDATE OF filter ON device_group FOR EACH ROW
  WHEN (OLD.filter IS DISTINCT FROM NEW.filter) EXECUTE FUNCTION group_changed();

-- Sessions of devices: open ones by device and by gateway, closed ones by their end.
CREATE TABLE session (
  device_id        text NOT NULL,
  epoch            int NOT NULL,
  gateway_id       uuid,
  transport        transport_kind NOT NULL,
  remote_address   text,
  firmware_version text,
  connected_at     timestamptz(3) NOT NULL,
  disconnected_at  timestamptz(3),
  close_reason     text,
  PRIMARY KEY (device_id, epoch)
);
CREATE INDEX session_open_idx ON session (device_id) WHERE disconnected_at IS NULL;
CREATE INDEX session_open_gateway_idx ON session (gateway_id) WHERE disconnected_at IS NULL;
CREATE INDEX session_closed_idx ON session (disconnected_at) WHERE disconnected_at IS NOT NULL;

-- -------------------------------------------------------------------------------------------------
-- Enrolment and credentials

-- A code names one waiting device, and a device waits once per identity.
CREATE TABLE enrolment (
  id               uuid NOT NULL,
  code             text NOT NULL,
  challenge        text NOT NULL,
  device_id        text NOT NULL,
  client_uuid_hash text NOT NULL,
  model            text,
  firmware_version text,
  remote_address   text,
  requested_at     timestamptz(3) NOT NULL,
  last_request_at  timestamptz(3) NOT NULL,
  admitted_at      timestamptz(3),
  remote_network   text,
  PRIMARY KEY (id)
);
CREATE INDEX enrolment_device_id_idx ON enrolment (device_id);
CREATE UNIQUE INDEX enrolment_pending_code_idx ON enrolment (code) WHERE admitted_at IS NULL;
CREATE UNIQUE INDEX enrolment_pending_device_idx ON enrolment (device_id, client_uuid_hash) WHERE admitted_at IS NULL;

-- Links by which devices enrol without a code.
CREATE TABLE enrolment_link (
  id          uuid NOT NULL,
  name        text NOT NULL,
  tags        text[],
  max_devices int NOT NULL,
  used_count  int NOT NULL DEFAULT 0,
  token_hash  text NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at  timestamptz(3) NOT NULL,
  revoked_at  timestamptz(3),
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX enrolment_link_token_hash_key ON enrolment_link (token_hash);

-- Wrong codes, counted for the limit on attempts.
CREATE TABLE approval_failure (
  id       bigserial,
  approver text NOT NULL,
  at       timestamptz(3) NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX approval_failure_at_idx ON approval_failure (at);

-- Keys that a factory wrote into chips.
CREATE TABLE factory_key (
  serial    text NOT NULL,
  key       bytea NOT NULL,
  device_id text,
  PRIMARY KEY (serial)
);

-- Issued credentials, by generation.
CREATE TABLE device_credential (
  device_id      text NOT NULL,
  generation     int NOT NULL,
  mqtt_client_id text NOT NULL,
  secret_hash    text NOT NULL,
  secret         text,
  issued_at      timestamptz(3) NOT NULL,
  used_at        timestamptz(3),
  expires_at     timestamptz(3),
  PRIMARY KEY (device_id, generation)
);

-- Devices that an operator removed; they need an approval to return.
CREATE TABLE removed_device (
  device_id  text NOT NULL,
  epoch      int NOT NULL,
  removed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (device_id)
);

-- Changes that other processes must read again, in the order of their transactions.
CREATE TABLE provisioning_change (
  device_id      text NOT NULL,
  transaction_id bigint NOT NULL,
  at             timestamptz(3) NOT NULL,
  PRIMARY KEY (device_id)
);
CREATE INDEX provisioning_change_transaction_id_idx ON provisioning_change (transaction_id);

-- -------------------------------------------------------------------------------------------------
-- Tools

-- Tool sets are stored once per content.
CREATE TABLE tool_set (
  hash       text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  pins       jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (hash)
);

-- The tools of a set, in the order in which devices announce them.
CREATE TABLE tool (
  tool_set_hash       text NOT NULL,
  position            int NOT NULL,
  name                text NOT NULL,
  description         text NOT NULL,
  input_schema        jsonb NOT NULL,
  schema_hash         text NOT NULL,
  user_only           boolean NOT NULL,
  schema_known        boolean NOT NULL,
  polling_interval_ms int,
  PRIMARY KEY (tool_set_hash, position),
  CONSTRAINT tool_tool_set_hash_fkey FOREIGN KEY (tool_set_hash) REFERENCES tool_set (hash)
    ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX tool_name_tool_set_hash_idx ON tool (name, tool_set_hash);

-- Which device had which tool set, and when.
CREATE TABLE tool_set_use (
  device_id        text NOT NULL,
  tool_set_hash    text NOT NULL,
  firmware_version text NOT NULL,
  first_seen_at    timestamptz(3) NOT NULL,
  last_seen_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (device_id, tool_set_hash, firmware_version)
);
CREATE INDEX tool_set_use_device_id_last_seen_at_idx ON tool_set_use (device_id, last_seen_at DESC);

-- What operators know about tools.
CREATE TABLE tool_policy (
  pattern             text NOT NULL,
  idempotent          boolean NOT NULL,
  disruptive          boolean NOT NULL,
  disconnect_expected boolean NOT NULL,
  verification        verification NOT NULL DEFAULT 'NONE',
  readback            jsonb,
  failure_text        text,
  call_timeout_ms     int NOT NULL,
  read_only           boolean,
  PRIMARY KEY (pattern)
);

-- The default policies.
INSERT INTO tool_policy (pattern, idempotent, disruptive, disconnect_expected, verification, readback, failure_text,
  call_timeout_ms) VALUES
  ('*', false, false, false, 'NONE', NULL, NULL, 60000),
  ('self.get_*', true, false, false, 'NONE', NULL, NULL, 60000),
  ('get_*', true, false, false, 'NONE', NULL, NULL, 60000),
  ('gpio_read', true, false, false, 'NONE', NULL, NULL, 60000),
  ('adc_read', true, false, false, 'NONE', NULL, NULL, 60000),
  ('self.audio_speaker.set_volume', true, false, false, 'NONE',
    '{"tool": "self.get_device_status", "path": "audio_speaker.volume", "argument": "volume"}', NULL, 60000),
  ('self.screen.set_brightness', true, false, false, 'NONE',
    '{"tool": "self.get_device_status", "path": "screen.brightness", "argument": "brightness"}', 'false', 60000),
  ('self.screen.set_theme', true, false, false, 'NONE',
    '{"tool": "self.get_device_status", "path": "screen.theme", "argument": "theme"}', 'false', 60000),
  ('self.reboot', false, true, true, 'REBOOT', NULL, NULL, 60000),
  ('self.upgrade_firmware', false, true, true, 'FIRMWARE', NULL, NULL, 60000),
  ('self.assets.set_download_url', false, false, false, 'NONE', NULL, NULL, 60000),
  ('self.screen.preview_image', false, false, false, 'NONE', NULL, NULL, 60000),
  ('self.screen.snapshot', false, false, false, 'NONE', NULL, NULL, 75000),
  ('self.camera.take_photo', false, false, false, 'NONE', NULL, NULL, 75000);

-- -------------------------------------------------------------------------------------------------
-- Events and calls

-- Both are partitioned by day on the time in their ids. The default partitions take rows of days without
-- a partition, so that a hub that could not create partitions still works.

-- Events of devices and of the hub.
CREATE TABLE event (
  id        uuid NOT NULL,
  type      text NOT NULL,
  device_id text,
  data      jsonb NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX event_device_id_id_idx ON event (device_id, id DESC);
CREATE INDEX event_type_id_idx ON event (type, id DESC);
CREATE TABLE event_default PARTITION OF event DEFAULT;

-- Finished single calls. The unsuccessful ones are few, and the ones that people look for.
CREATE TABLE call (
  id            uuid NOT NULL,
  device_id     text NOT NULL,
  tool          text NOT NULL,
  arguments     jsonb NOT NULL,
  outcome       outcome NOT NULL,
  certainty     send_certainty NOT NULL,
  result        jsonb,
  error_code    text,
  error_message text,
  rpc_code      int,
  started_at    timestamptz(3) NOT NULL,
  duration_ms   float8 NOT NULL,
  actor         text NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX call_device_id_id_idx ON call (device_id, id DESC);
CREATE INDEX call_tool_id_idx ON call (tool, id DESC);
CREATE INDEX call_failed_idx ON call (outcome, id DESC) WHERE outcome <> 'SUCCEEDED';
CREATE TABLE call_default PARTITION OF call DEFAULT;

-- Idempotency keys of single calls.
CREATE TABLE call_key (
  actor        text NOT NULL,
  key          text NOT NULL,
  request_hash text NOT NULL,
  call_id      uuid NOT NULL,
  device_id    text NOT NULL,
  tool         text NOT NULL,
  arguments    jsonb NOT NULL,
  started_at   timestamptz(3) NOT NULL,
  principal    text NOT NULL,
  process_id   uuid,
  PRIMARY KEY (principal, key)
);
CREATE INDEX call_key_started_at_idx ON call_key (started_at);

-- Recent disruptive single calls, counted for the limit that approvals set.
CREATE TABLE disruptive_call (
  owner     text NOT NULL,
  device_id text NOT NULL,
  at        timestamptz(3) NOT NULL,
  PRIMARY KEY (owner, device_id)
);
CREATE INDEX disruptive_call_at_idx ON disruptive_call (at);

-- -------------------------------------------------------------------------------------------------
-- Jobs

-- Two partial indexes find the unfinished jobs.
CREATE TABLE job (
  id                  uuid NOT NULL,
  name                text,
  tool                text NOT NULL,
  arguments           jsonb NOT NULL,
  devices             jsonb NOT NULL,
  state               job_state NOT NULL,
  conclusion          job_conclusion,
  pause_reason        pause_reason,
  cancel_forced       boolean NOT NULL DEFAULT false,
  version             int NOT NULL DEFAULT 1,
  offline             offline_policy NOT NULL,
  expires_at          timestamptz(3) NOT NULL,
  call_timeout_ms     int NOT NULL,
  max_in_flight       int NOT NULL,
  idempotent          boolean NOT NULL,
  failure_text        text,
  total               int,
  created_by          text NOT NULL,
  may_call_user_only  boolean NOT NULL,
  idempotency_key     text,
  request_hash        text NOT NULL,
  owner_id            uuid,
  fence               int NOT NULL DEFAULT 0,
  prepared_up_to      text NOT NULL DEFAULT '',
  created_at          timestamptz(3) NOT NULL,
  started_at          timestamptz(3),
  finished_at         timestamptz(3),
  abort_rules         jsonb NOT NULL DEFAULT '[]',
  approved_by         text,
  current_wave        int NOT NULL DEFAULT 1,
  daily_window        jsonb,
  disconnect_expected boolean NOT NULL DEFAULT false,
  disruptive          boolean NOT NULL DEFAULT false,
  firmware_image_id   uuid,
  max_attempts        int NOT NULL DEFAULT 1,
  parent_job_id       uuid,
  per_minute          int,
  readback            jsonb,
  skip_if_satisfied   boolean NOT NULL DEFAULT false,
  start_at            timestamptz(3),
  tripped_rule        jsonb,
  verification        verification NOT NULL DEFAULT 'NONE',
  waves               jsonb NOT NULL DEFAULT '[]',
  priority            int NOT NULL DEFAULT 2,
  created_by_id       text NOT NULL,
  approval_targets    int,
  created_by_owner    text,
  secret_arguments    bytea,
  PRIMARY KEY (id)
);
CREATE INDEX job_tool_id_idx ON job (tool, id DESC);
CREATE INDEX job_state_id_idx ON job (state, id DESC);
CREATE INDEX job_live_idx ON job (id) WHERE state <> 'FINISHED';
CREATE INDEX job_live_firmware_idx ON job (firmware_image_id)
  WHERE firmware_image_id IS NOT NULL AND state <> 'FINISHED';
CREATE UNIQUE INDEX job_created_by_id_idempotency_key_key ON job (created_by_id, idempotency_key);

-- The waves of a job.
CREATE TABLE job_wave (
  job_id            uuid NOT NULL,
  number            int NOT NULL,
  size              int NOT NULL,
  gate              wave_gate NOT NULL DEFAULT 'AUTO',
  success_threshold float8 NOT NULL,
  soak_seconds      int NOT NULL,
  opened_at         timestamptz(3),
  closed_at         timestamptz(3),
  approved_by       text,
  PRIMARY KEY (job_id, number)
);

-- The devices that an approval covers.
CREATE TABLE job_approval_target (
  job_id    uuid NOT NULL,
  device_id text NOT NULL,
  PRIMARY KEY (job_id, device_id)
);

-- Partitioned by month on the time in the job id. An update that changes no indexed column writes no index
-- (HOT), and claims must be such updates. So indexes name two generated columns that ignore a claim: a
-- claimed target is still READY in `indexed_state`, and its call is in `listed_call_id` once it was sent.
-- This saves ten index entries in the life of a target.
CREATE TABLE job_target (
  job_id             uuid NOT NULL,
  device_id          text NOT NULL,
  ordinal            bigint NOT NULL,
  wave               int NOT NULL DEFAULT 1,
  state              target_state NOT NULL,
  outcome            outcome,
  certainty          send_certainty,
  attempts           int NOT NULL DEFAULT 0,
  claim              int NOT NULL DEFAULT 0,
  epoch              int,
  gateway_id         uuid,
  call_id            uuid,
  deadline_at        timestamptz(3),
  started_at         timestamptz(3),
  decided_at         timestamptz(3),
  error_code         text,
  error_message      text,
  rpc_code           int,
  result_hash        text,
  late               boolean NOT NULL DEFAULT false,
  retry_at           timestamptz(3),
  verify_deadline_at timestamptz(3),
  baseline_version   text,
  soft_deadline_at   timestamptz(3),
  indexed_state      target_state
    GENERATED ALWAYS AS (CASE WHEN state = 'DISPATCHING' THEN 'READY' ELSE state END) STORED,
  listed_call_id     uuid GENERATED ALWAYS AS (CASE WHEN state <> 'DISPATCHING' THEN call_id END) STORED,
  cut_retries        smallint NOT NULL DEFAULT 0,
  PRIMARY KEY (job_id, device_id)
) PARTITION BY RANGE (job_id);
CREATE TABLE job_target_default PARTITION OF job_target DEFAULT WITH (fillfactor = 80);
-- Live targets by state: the worker claims, wakes and verifies them through these indexes.
CREATE INDEX job_target_ready_idx ON job_target (job_id, ordinal) WHERE indexed_state = 'READY';
CREATE INDEX job_target_waiting_idx ON job_target (job_id, device_id) WHERE indexed_state = 'WAITING_DEVICE';
CREATE INDEX job_target_pending_idx ON job_target (job_id, wave) WHERE indexed_state = 'PENDING';
CREATE INDEX job_target_sent_idx ON job_target (job_id, device_id) WHERE indexed_state = 'SENT';
CREATE INDEX job_target_verifying_idx ON job_target (job_id, verify_deadline_at) WHERE indexed_state = 'VERIFYING';
CREATE INDEX job_target_retry_idx ON job_target (job_id, retry_at) WHERE indexed_state = 'RETRY_WAIT';
-- Failed targets of a job.
CREATE INDEX job_target_failed_idx ON job_target (job_id, outcome, device_id)
  WHERE outcome IN ('FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED');
-- Calls of targets, latest first: all, of a device, of a job, and the unsuccessful ones.
CREATE INDEX job_target_call_idx ON job_target (listed_call_id DESC) WHERE listed_call_id IS NOT NULL;
CREATE INDEX job_target_device_call_idx ON job_target (device_id, listed_call_id DESC) WHERE listed_call_id IS NOT NULL;
CREATE INDEX job_target_job_call_idx ON job_target (job_id, listed_call_id DESC) WHERE listed_call_id IS NOT NULL;
CREATE INDEX job_target_failed_call_idx ON job_target (outcome, listed_call_id DESC)
  WHERE listed_call_id IS NOT NULL AND outcome <> 'SUCCEEDED';

-- Targets in each state. Several rows per job, so that a claim and a flush do not block each other.
CREATE TABLE job_counter (
  job_id         uuid NOT NULL,
  shard          int NOT NULL,
  pending        int NOT NULL DEFAULT 0,
  waiting_device int NOT NULL DEFAULT 0,
  in_flight      int NOT NULL DEFAULT 0,
  verifying      int NOT NULL DEFAULT 0,
  succeeded      int NOT NULL DEFAULT 0,
  no_change      int NOT NULL DEFAULT 0,
  failed         int NOT NULL DEFAULT 0,
  rejected       int NOT NULL DEFAULT 0,
  verify_failed  int NOT NULL DEFAULT 0,
  unknown        int NOT NULL DEFAULT 0,
  expired        int NOT NULL DEFAULT 0,
  cancelled      int NOT NULL DEFAULT 0,
  skipped        int NOT NULL DEFAULT 0,
  wave           int NOT NULL DEFAULT 1,
  PRIMARY KEY (job_id, wave, shard)
) WITH (fillfactor = 50);

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

-- Statements that move targets insert here how many moved from one counter to another. `counter_before`
-- is NULL for new targets. The trigger adds the moves to one shard of the counters: 0 preparation,
-- 1 claims, 2 flushes, 3 wake-ups, 4 ends in bulk, 5 takeovers, 6 verifications, 7 opened waves, 8 late
-- answers, 9 offers. Statements insert in the order of jobs and waves, so that two cannot deadlock.
CREATE VIEW job_counter_move AS
  SELECT job_id, shard, wave, NULL::text AS counter_before, NULL::text AS counter_after, NULL::bigint AS targets
  FROM job_counter;

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

-- Results of targets; equal results are stored once per job.
CREATE TABLE job_result (
  job_id uuid NOT NULL,
  hash   text NOT NULL,
  result jsonb NOT NULL,
  PRIMARY KEY (job_id, hash)
);

-- -------------------------------------------------------------------------------------------------
-- Firmware and uploads

-- Equal files are found by their content.
CREATE TABLE firmware_image (
  id            uuid NOT NULL,
  kind          firmware_kind NOT NULL,
  file_name     text NOT NULL,
  project       text NOT NULL,
  version       text NOT NULL,
  chip          text NOT NULL,
  idf_version   text,
  size_bytes    int NOT NULL,
  sha256        text NOT NULL,
  elf_sha256    text,
  storage_key   text NOT NULL,
  uploaded_at   timestamptz(3) NOT NULL,
  uploaded_by   text NOT NULL,
  published_at  timestamptz(3),
  withdrawn_at  timestamptz(3),
  notes         text,
  publisher_ids text[] DEFAULT ARRAY[]::text[],
  signature     text,
  signed_by     text,
  PRIMARY KEY (id)
);
CREATE INDEX firmware_image_sha256_idx ON firmware_image (sha256);

-- The board models for which an image is published.
CREATE TABLE firmware_release (
  kind     firmware_kind NOT NULL,
  model    text NOT NULL,
  version  text NOT NULL,
  image_id uuid NOT NULL,
  PRIMARY KEY (kind, model, version)
);
CREATE INDEX firmware_release_image_id_idx ON firmware_release (image_id);

-- Public keys that verify signed images.
CREATE TABLE firmware_signing_key (
  id          uuid NOT NULL,
  name        text NOT NULL,
  public_key  text NOT NULL,
  fingerprint text NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  created_by  text NOT NULL,
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX firmware_signing_key_fingerprint_key ON firmware_signing_key (fingerprint);

-- Downloads of images. The open ones are counted before each batch of upgrades.
CREATE TABLE download (
  id            uuid NOT NULL,
  image_id      uuid NOT NULL,
  device_id     text NOT NULL,
  job_id        uuid NOT NULL,
  expires_at    timestamptz(3) NOT NULL,
  requests      int NOT NULL DEFAULT 0,
  bytes_served  bigint NOT NULL DEFAULT 0,
  started_at    timestamptz(3),
  last_byte_at  timestamptz(3),
  completed_at  timestamptz(3),
  broken_off_at timestamptz(3),
  server_id     uuid,
  PRIMARY KEY (id)
);
CREATE INDEX download_job_id_device_id_idx ON download (job_id, device_id);
CREATE INDEX download_device_id_image_id_idx ON download (device_id, image_id);
CREATE INDEX download_open_idx ON download (expires_at) WHERE completed_at IS NULL;

-- Pictures from devices, and pictures that operators showed on devices.
CREATE TABLE upload (
  id            uuid NOT NULL,
  device_id     text,
  kind          upload_kind NOT NULL,
  content_type  text NOT NULL,
  size_bytes    int NOT NULL,
  sha256        text NOT NULL,
  storage_key   text NOT NULL,
  thumbnail_key text,
  question      text,
  answer        text,
  ticket_id     uuid,
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX upload_ticket_id_key ON upload (ticket_id);
CREATE INDEX upload_device_id_id_idx ON upload (device_id, id DESC);

-- -------------------------------------------------------------------------------------------------
-- People and keys

-- People who sign in.
CREATE TABLE user_account (
  id              uuid NOT NULL,
  name            text NOT NULL,
  email           text,
  role            role NOT NULL,
  password_hash   text,
  oidc_issuer     text,
  oidc_subject    text,
  created_at      timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_sign_in_at timestamptz(3),
  disabled_at     timestamptz(3),
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX user_account_email_key ON user_account (email);
CREATE UNIQUE INDEX user_account_oidc_issuer_oidc_subject_key ON user_account (oidc_issuer, oidc_subject);

-- Browsers that are signed in.
CREATE TABLE user_session (
  id             uuid NOT NULL,
  user_id        uuid NOT NULL,
  token_hash     text NOT NULL,
  created_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_used_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at     timestamptz(3) NOT NULL,
  revoked_at     timestamptz(3),
  remote_address text,
  user_agent     text,
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX user_session_token_hash_key ON user_session (token_hash);
CREATE INDEX user_session_user_id_idx ON user_session (user_id);

-- Failed attempts to sign in.
CREATE TABLE sign_in_failure (
  subject  text NOT NULL,
  failures int NOT NULL,
  last_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (subject)
);
CREATE INDEX sign_in_failure_last_at_idx ON sign_in_failure (last_at);

-- Keys of the API.
CREATE TABLE api_key (
  id           uuid NOT NULL,
  name         text NOT NULL,
  prefix       text NOT NULL,
  secret_hash  text NOT NULL,
  scopes       text[],
  created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at   timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at   timestamptz(3),
  created_by   text,
  devices      jsonb,
  owner_id     text,
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX api_key_secret_hash_key ON api_key (secret_hash);

-- -------------------------------------------------------------------------------------------------
-- Audit trail

-- Entries form a chain by their sequence.
CREATE TABLE audit_entry (
  id             uuid NOT NULL,
  sequence       bigint NOT NULL,
  at             timestamptz(3) NOT NULL,
  actor          text NOT NULL,
  action         text NOT NULL,
  subject        text NOT NULL,
  data           jsonb NOT NULL,
  remote_address text,
  hash           text NOT NULL,
  key_id         text,
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX audit_entry_sequence_key ON audit_entry (sequence);
CREATE INDEX audit_entry_actor_id_idx ON audit_entry (actor, id DESC);
CREATE INDEX audit_entry_action_id_idx ON audit_entry (action, id DESC);
CREATE INDEX audit_entry_subject_id_idx ON audit_entry (subject, id DESC);

-- Where the chain begins after retention removed its oldest entries. At most one row.
CREATE TABLE audit_anchor (
  is_only  boolean NOT NULL DEFAULT true,
  sequence bigint NOT NULL,
  hash     text NOT NULL,
  PRIMARY KEY (is_only),
  CONSTRAINT audit_anchor_is_one CHECK (is_only)
);

-- -------------------------------------------------------------------------------------------------
-- Webhooks

-- Addresses that receive events.
CREATE TABLE webhook (
  id            uuid NOT NULL,
  url           text NOT NULL,
  types         text[],
  enabled       boolean NOT NULL DEFAULT true,
  secret        text NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by    text NOT NULL,
  failing_since timestamptz(3),
  paused_at     timestamptz(3),
  failures      int NOT NULL DEFAULT 0,
  retry_at      timestamptz(3),
  PRIMARY KEY (id)
);

-- The outbox: events that must still be delivered. Most of them are not claimed.
CREATE TABLE webhook_outbox (
  webhook_id    uuid NOT NULL,
  event_id      uuid NOT NULL,
  attempts      int NOT NULL DEFAULT 0,
  next_at       timestamptz(3) NOT NULL,
  claimed_until timestamptz(3),
  pending_since timestamptz(3) NOT NULL,
  PRIMARY KEY (webhook_id, event_id)
);
CREATE INDEX webhook_outbox_webhook_id_next_at_event_id_idx ON webhook_outbox (webhook_id, next_at, event_id);
CREATE INDEX webhook_outbox_claimed_idx ON webhook_outbox (webhook_id) WHERE claimed_until IS NOT NULL;

-- Attempts to deliver an event.
CREATE TABLE webhook_delivery (
  id         uuid NOT NULL,
  webhook_id uuid NOT NULL,
  event_id   uuid NOT NULL,
  attempt    int NOT NULL,
  status     int,
  error      text,
  at         timestamptz(3) NOT NULL,
  delivered  boolean NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX webhook_delivery_webhook_id_id_idx ON webhook_delivery (webhook_id, id DESC);
