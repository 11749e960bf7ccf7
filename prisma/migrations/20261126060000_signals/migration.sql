-- AlterEnum
ALTER TYPE "pause_reason" ADD VALUE 'HEALTH_GATE';

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "health_gate" JSONB,
ADD COLUMN     "tripped_health_gate" JSONB;

-- CreateTable
CREATE TABLE "recording_rule" (
    "id" UUID NOT NULL,
    "devices" JSONB NOT NULL,
    "path" TEXT NOT NULL,
    "deadband" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "min_interval_seconds" INTEGER NOT NULL DEFAULT 60,
    "saved_by" TEXT NOT NULL,
    "saved_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recording_rule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "measurement_path" (
    "id" SMALLSERIAL NOT NULL,
    "path" TEXT NOT NULL,

    CONSTRAINT "measurement_path_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "measurement_device" (
    "id" SERIAL NOT NULL,
    "device_id" TEXT NOT NULL,

    CONSTRAINT "measurement_device_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "measurement_series" (
    "device_id" INTEGER NOT NULL,
    "path_id" SMALLINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "value" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "measurement_series_pkey" PRIMARY KEY ("device_id","path_id")
)
-- Each point rewrites its row: free room keeps it on its page.
WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

-- CreateTable
CREATE TABLE "measurement" (
    "at" TIMESTAMPTZ(3) NOT NULL,
    "value" DOUBLE PRECISION NOT NULL,
    "device_id" INTEGER NOT NULL,
    "path_id" SMALLINT NOT NULL,

    CONSTRAINT "measurement_pkey" PRIMARY KEY ("device_id","path_id","at")
) PARTITION BY RANGE ("at");
CREATE TABLE "measurement_default" PARTITION OF "measurement" DEFAULT;

-- CreateTable
CREATE TABLE "measurement_pack" (
    "at" TIMESTAMPTZ(3) NOT NULL,
    "device_id" INTEGER NOT NULL,
    "path_id" SMALLINT NOT NULL,
    "offsets" INTEGER[] NOT NULL,
    "values" DOUBLE PRECISION[] NOT NULL,

    CONSTRAINT "measurement_pack_pkey" PRIMARY KEY ("device_id","path_id","at")
) PARTITION BY RANGE ("at");
CREATE TABLE "measurement_pack_default" PARTITION OF "measurement_pack" DEFAULT;

-- CreateTable
CREATE TABLE "measurement_hour" (
    "at" TIMESTAMPTZ(3) NOT NULL,
    "device_id" INTEGER NOT NULL,
    "path_id" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,
    "min" REAL NOT NULL,
    "mean" REAL NOT NULL,
    "max" REAL NOT NULL,

    CONSTRAINT "measurement_hour_pkey" PRIMARY KEY ("device_id","path_id","at")
) PARTITION BY RANGE ("at");
CREATE TABLE "measurement_hour_default" PARTITION OF "measurement_hour" DEFAULT;

-- CreateTable
CREATE TABLE "measurement_day" (
    "at" TIMESTAMPTZ(3) NOT NULL,
    "device_id" INTEGER NOT NULL,
    "path_id" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,
    "min" REAL NOT NULL,
    "mean" REAL NOT NULL,
    "max" REAL NOT NULL,

    CONSTRAINT "measurement_day_pkey" PRIMARY KEY ("device_id","path_id","at")
);

-- CreateTable
CREATE TABLE "measurement_progress" (
    "is_only" BOOLEAN NOT NULL DEFAULT true,
    "hours_until" TIMESTAMPTZ(3) NOT NULL,
    "packed_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "measurement_progress_pkey" PRIMARY KEY ("is_only")
);

-- CreateTable
CREATE TABLE "device_restart" (
    "device_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "former_at" TIMESTAMPTZ(3) NOT NULL,
    "firmware_version" TEXT,
    "booted_version" TEXT,
    "reason" TEXT,
    "via" TEXT NOT NULL,
    "cause" TEXT,

    CONSTRAINT "device_restart_pkey" PRIMARY KEY ("device_id","at")
);

-- CreateIndex
CREATE UNIQUE INDEX "measurement_path_path_key" ON "measurement_path"("path");

-- CreateIndex
CREATE UNIQUE INDEX "measurement_device_device_id_key" ON "measurement_device"("device_id");

-- CreateIndex
CREATE INDEX "measurement_series_path_id_idx" ON "measurement_series"("path_id");

-- CreateIndex
CREATE INDEX "device_restart_at_idx" ON "device_restart"("at");


-- Charts of a fleet read a span of time: rows are in the order of their times, so that a few bytes per
-- megabyte find them.
CREATE INDEX "measurement_at_brin" ON "measurement" USING BRIN ("at") WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX "measurement_hour_at_brin" ON "measurement_hour" USING BRIN ("at", "path_id") WITH (pages_per_range = 16);
CREATE INDEX "measurement_day_at_brin" ON "measurement_day" USING BRIN ("at", "path_id") WITH (pages_per_range = 16);

-- The worker looks for restarts that are not judged every few seconds.
CREATE INDEX "device_restart_open_idx" ON "device_restart" ("at") WHERE "cause" IS NULL;
CREATE INDEX "device_restart_unexpected_idx" ON "device_restart" ("at") WHERE "cause" = 'UNEXPECTED';

-- The rules that a hub ships with. Administrators may change and delete them.
INSERT INTO "recording_rule" ("id", "devices", "path", "deadband", "min_interval_seconds", "saved_by", "saved_at") VALUES
  ('5b1f0000-0000-7000-8000-000000000001', '{"all":true}', 'self.get_device_status:battery.level', 1, 60, 'hub', '2026-01-01'),
  ('5b1f0000-0000-7000-8000-000000000002', '{"all":true}', 'self.get_device_status:chip.temperature', 0.5, 60, 'hub', '2026-01-01'),
  ('5b1f0000-0000-7000-8000-000000000003', '{"all":true}', 'self.get_device_status:network.signal', 0, 300, 'hub', '2026-01-01'),
  ('5b1f0000-0000-7000-8000-000000000004', '{"all":true}', 'self.get_system_info:minimum_free_heap_size', 0, 60, 'hub', '2026-01-01'),
  ('5b1f0000-0000-7000-8000-000000000005', '{"all":true}', 'samples:*', 0, 1, 'hub', '2026-01-01');
