-- Written by `npm run db:migration`; by hand: PARTITION BY, fillfactor, and everything from "What Prisma cannot say" on.

-- CreateEnum
CREATE TYPE "dialect" AS ENUM ('XIAOZHI', 'MCPU');

-- CreateEnum
CREATE TYPE "transport_kind" AS ENUM ('MQTT', 'WEBSOCKET', 'TCP');

-- CreateEnum
CREATE TYPE "reachability" AS ENUM ('ALWAYS', 'IN_CONVERSATION');

-- CreateEnum
CREATE TYPE "verification" AS ENUM ('NONE', 'READBACK', 'REBOOT', 'FIRMWARE');

-- CreateEnum
CREATE TYPE "send_certainty" AS ENUM ('NEVER', 'MAYBE', 'YES');

-- CreateEnum
CREATE TYPE "outcome" AS ENUM ('SUCCEEDED', 'NO_CHANGE', 'FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'NOT_SENT', 'EXPIRED', 'CANCELLED', 'SKIPPED');

-- CreateEnum
CREATE TYPE "job_state" AS ENUM ('AWAITING_APPROVAL', 'SCHEDULED', 'PREPARING', 'RUNNING', 'PAUSED', 'CANCELLING', 'FINISHED');

-- CreateEnum
CREATE TYPE "job_conclusion" AS ENUM ('SUCCEEDED', 'PARTIAL', 'FAILED', 'ABORTED', 'CANCELLED', 'EXPIRED', 'DENIED');

-- CreateEnum
CREATE TYPE "pause_reason" AS ENUM ('USER', 'WAVE_GATE', 'ABORT_RULE', 'WINDOW_CLOSED', 'OVERLOAD', 'DEPENDENCY_DOWN');

-- CreateEnum
CREATE TYPE "offline_policy" AS ENUM ('WAIT', 'SKIP', 'FAIL');

-- CreateEnum
CREATE TYPE "target_state" AS ENUM ('PENDING', 'READY', 'WAITING_DEVICE', 'DISPATCHING', 'SENT', 'VERIFYING', 'RETRY_WAIT', 'DECIDED');

-- CreateTable
CREATE TABLE "hub_process" (
    "id" UUID NOT NULL,
    "host" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "hub_process_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "device" (
    "id" TEXT NOT NULL,
    "name" TEXT,
    "dialect" "dialect" NOT NULL,
    "model" TEXT,
    "firmware_version" TEXT,
    "reachability" "reachability" NOT NULL,
    "transport" "transport_kind",
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "online" BOOLEAN NOT NULL DEFAULT false,
    "gateway_id" UUID,
    "connected_at" TIMESTAMPTZ(3),
    "last_seen_at" TIMESTAMPTZ(3),
    "tool_set_hash" TEXT,
    "tools_discovered_at" TIMESTAMPTZ(3),
    "tools_stale" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "device_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 80);

-- CreateTable
CREATE TABLE "session" (
    "device_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "gateway_id" UUID,
    "transport" "transport_kind" NOT NULL,
    "remote_address" TEXT,
    "firmware_version" TEXT,
    "connected_at" TIMESTAMPTZ(3) NOT NULL,
    "disconnected_at" TIMESTAMPTZ(3),
    "close_reason" TEXT,

    CONSTRAINT "session_pkey" PRIMARY KEY ("device_id","epoch")
);

-- CreateTable
CREATE TABLE "tool_set" (
    "hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tool_set_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "tool" (
    "tool_set_hash" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "input_schema" JSONB NOT NULL,
    "schema_hash" TEXT NOT NULL,
    "user_only" BOOLEAN NOT NULL,
    "schema_known" BOOLEAN NOT NULL,

    CONSTRAINT "tool_pkey" PRIMARY KEY ("tool_set_hash","position")
);

-- CreateTable
CREATE TABLE "tool_set_use" (
    "device_id" TEXT NOT NULL,
    "tool_set_hash" TEXT NOT NULL,
    "firmware_version" TEXT NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_set_use_pkey" PRIMARY KEY ("device_id","tool_set_hash","firmware_version")
);

-- CreateTable
CREATE TABLE "tool_policy" (
    "pattern" TEXT NOT NULL,
    "idempotent" BOOLEAN NOT NULL,
    "disruptive" BOOLEAN NOT NULL,
    "disconnect_expected" BOOLEAN NOT NULL,
    "verification" "verification" NOT NULL DEFAULT 'NONE',
    "readback" JSONB,
    "failure_text" TEXT,
    "call_timeout_ms" INTEGER NOT NULL,

    CONSTRAINT "tool_policy_pkey" PRIMARY KEY ("pattern")
);

-- CreateTable
CREATE TABLE "event" (
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "device_id" TEXT,
    "data" JSONB NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");

-- CreateTable
CREATE TABLE "call" (
    "id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "arguments" JSONB NOT NULL,
    "outcome" "outcome" NOT NULL,
    "certainty" "send_certainty" NOT NULL,
    "result" JSONB,
    "error_code" TEXT,
    "error_message" TEXT,
    "rpc_code" INTEGER,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" DOUBLE PRECISION NOT NULL,
    "actor" TEXT NOT NULL,

    CONSTRAINT "call_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");

-- CreateTable
CREATE TABLE "call_key" (
    "actor" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "call_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "arguments" JSONB NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "call_key_pkey" PRIMARY KEY ("actor","key")
);

-- CreateTable
CREATE TABLE "job" (
    "id" UUID NOT NULL,
    "name" TEXT,
    "tool" TEXT NOT NULL,
    "arguments" JSONB NOT NULL,
    "devices" JSONB NOT NULL,
    "state" "job_state" NOT NULL,
    "conclusion" "job_conclusion",
    "pause_reason" "pause_reason",
    "version" INTEGER NOT NULL DEFAULT 1,
    "offline" "offline_policy" NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "call_timeout_ms" INTEGER NOT NULL,
    "max_in_flight" INTEGER NOT NULL,
    "idempotent" BOOLEAN NOT NULL,
    "failure_text" TEXT,
    "total" INTEGER,
    "created_by" TEXT NOT NULL,
    "may_call_user_only" BOOLEAN NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "owner_id" UUID,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "prepared_up_to" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job_target" (
    "job_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "wave" INTEGER NOT NULL DEFAULT 1,
    "state" "target_state" NOT NULL,
    "outcome" "outcome",
    "certainty" "send_certainty",
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim" INTEGER NOT NULL DEFAULT 0,
    "epoch" INTEGER,
    "gateway_id" UUID,
    "call_id" UUID,
    "deadline_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "decided_at" TIMESTAMPTZ(3),
    "error_code" TEXT,
    "error_message" TEXT,
    "rpc_code" INTEGER,
    "result_hash" TEXT,
    "late" BOOLEAN NOT NULL DEFAULT false,
    "retry_at" TIMESTAMPTZ(3),
    "verify_deadline_at" TIMESTAMPTZ(3),

    CONSTRAINT "job_target_pkey" PRIMARY KEY ("job_id","device_id")
) PARTITION BY RANGE ("job_id");

-- CreateTable
CREATE TABLE "job_result" (
    "job_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "result" JSONB NOT NULL,

    CONSTRAINT "job_result_pkey" PRIMARY KEY ("job_id","hash")
);

-- CreateTable
CREATE TABLE "job_counter" (
    "job_id" UUID NOT NULL,
    "shard" INTEGER NOT NULL,
    "pending" INTEGER NOT NULL DEFAULT 0,
    "waiting_device" INTEGER NOT NULL DEFAULT 0,
    "in_flight" INTEGER NOT NULL DEFAULT 0,
    "verifying" INTEGER NOT NULL DEFAULT 0,
    "succeeded" INTEGER NOT NULL DEFAULT 0,
    "no_change" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "rejected" INTEGER NOT NULL DEFAULT 0,
    "verify_failed" INTEGER NOT NULL DEFAULT 0,
    "unknown" INTEGER NOT NULL DEFAULT 0,
    "expired" INTEGER NOT NULL DEFAULT 0,
    "cancelled" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "job_counter_pkey" PRIMARY KEY ("job_id","shard")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "device_tags_idx" ON "device" USING GIN ("tags");

-- CreateIndex
CREATE INDEX "device_model_id_idx" ON "device"("model", "id");

-- CreateIndex
CREATE INDEX "device_firmware_version_id_idx" ON "device"("firmware_version", "id");

-- CreateIndex
CREATE INDEX "device_tool_set_hash_id_idx" ON "device"("tool_set_hash", "id");

-- CreateIndex
CREATE INDEX "tool_name_tool_set_hash_idx" ON "tool"("name", "tool_set_hash");

-- CreateIndex
CREATE INDEX "tool_set_use_device_id_last_seen_at_idx" ON "tool_set_use"("device_id", "last_seen_at" DESC);

-- CreateIndex
CREATE INDEX "event_device_id_id_idx" ON "event"("device_id", "id" DESC);

-- CreateIndex
CREATE INDEX "event_type_id_idx" ON "event"("type", "id" DESC);

-- CreateIndex
CREATE INDEX "call_device_id_id_idx" ON "call"("device_id", "id" DESC);

-- CreateIndex
CREATE INDEX "call_tool_id_idx" ON "call"("tool", "id" DESC);

-- CreateIndex
CREATE INDEX "job_tool_id_idx" ON "job"("tool", "id" DESC);

-- CreateIndex
CREATE INDEX "job_state_id_idx" ON "job"("state", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "job_created_by_idempotency_key_key" ON "job"("created_by", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_secret_hash_key" ON "api_key"("secret_hash");

-- AddForeignKey
ALTER TABLE "tool" ADD CONSTRAINT "tool_tool_set_hash_fkey" FOREIGN KEY ("tool_set_hash") REFERENCES "tool_set"("hash") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma cannot say.

-- Rows of no day or month with a partition of its own; also what keeps a hub alive that could not make partitions.
CREATE TABLE "event_default" PARTITION OF "event" DEFAULT;
CREATE TABLE "call_default" PARTITION OF "call" DEFAULT;
CREATE TABLE "job_target_default" PARTITION OF "job_target" DEFAULT WITH (fillfactor = 80);

-- A UUIDv7 of the given time: 48 bits of milliseconds, then version, variant and randomness. PostgreSQL has its own only from 18 on.
CREATE FUNCTION "uuid_v7"("at" timestamptz) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(
    set_bit(
      set_bit(
        overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(round(extract(epoch FROM "at") * 1000)::bigint) FROM 3) FROM 1 FOR 6),
        52, 1),
      53, 1),
    'hex')::uuid
$$;

-- A dotted version as devices compare them: number by number, and of two with the same beginning the shorter is the older. NULL without any number.
CREATE FUNCTION "version_key"("version" text) RETURNS int[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT array_agg(coalesce(left(substring(part FROM '[0-9]+'), 9), '0')::int ORDER BY place)
  FROM unnest(string_to_array("version", '.')) WITH ORDINALITY AS parts(part, place)
  WHERE "version" ~ '[0-9]'
$$;

-- Lists of devices: by name, by last contact, by version, and the search in id and name.
CREATE INDEX "device_name_order_idx" ON "device"((coalesce("name", "id")), "id");
CREATE INDEX "device_last_seen_order_idx" ON "device"((coalesce("last_seen_at", '-infinity'::timestamptz)) DESC, "id");
CREATE INDEX "device_version_key_idx" ON "device"("version_key"("firmware_version"));
CREATE INDEX "device_gateway_online_idx" ON "device"("gateway_id") WHERE "online";
CREATE INDEX "device_tools_stale_idx" ON "device"("id") WHERE "tools_stale";
-- Trigrams make the search quick; where the extension is missing or not ours to create, it reads the table.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX "device_search_idx" ON "device" USING gin ((lower("id" || E'\n' || coalesce("name", ''))) gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available: searching devices reads the whole table (%)', SQLERRM;
END
$$;

-- Calls that did not succeed are few, and the ones that people look for.
CREATE INDEX "call_failed_idx" ON "call"("outcome", "id" DESC) WHERE "outcome" <> 'SUCCEEDED';

-- Open sessions, by device and by the process that holds them.
CREATE INDEX "session_open_idx" ON "session"("device_id") WHERE "disconnected_at" IS NULL;
CREATE INDEX "session_open_gateway_idx" ON "session"("gateway_id") WHERE "disconnected_at" IS NULL;

-- Jobs that somebody must look after, and the live targets of each: decided ones are in no index but their key and their call.
CREATE INDEX "job_live_idx" ON "job"("id") WHERE "state" <> 'FINISHED';
CREATE INDEX "job_target_ready_idx" ON "job_target"("job_id", "ordinal") WHERE "state" = 'READY';
CREATE INDEX "job_target_waiting_idx" ON "job_target"("job_id", "device_id") WHERE "state" IN ('PENDING', 'WAITING_DEVICE', 'RETRY_WAIT');
CREATE INDEX "job_target_in_flight_idx" ON "job_target"("job_id", "device_id") WHERE "state" IN ('DISPATCHING', 'SENT', 'VERIFYING');
CREATE INDEX "job_target_failed_idx" ON "job_target"("job_id", "outcome", "device_id")
  WHERE "outcome" IN ('FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED');
CREATE INDEX "job_target_failed_call_idx" ON "job_target"("outcome", "call_id" DESC) WHERE "call_id" IS NOT NULL AND "outcome" <> 'SUCCEEDED';
-- The calls that targets are: of all devices and of one, latest first. What was never sent is in neither.
CREATE INDEX "job_target_call_idx" ON "job_target"("call_id" DESC) WHERE "call_id" IS NOT NULL;
CREATE INDEX "job_target_device_call_idx" ON "job_target"("device_id", "call_id" DESC) WHERE "call_id" IS NOT NULL;

-- The shipped tool policy.
INSERT INTO "tool_policy" ("pattern", "idempotent", "disruptive", "disconnect_expected", "verification", "readback", "failure_text", "call_timeout_ms") VALUES
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
