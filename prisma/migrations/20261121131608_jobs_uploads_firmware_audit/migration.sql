-- CreateEnum
CREATE TYPE "upload_kind" AS ENUM ('PHOTO', 'SNAPSHOT', 'IMAGE');

-- CreateEnum
CREATE TYPE "firmware_kind" AS ENUM ('FIRMWARE', 'ASSETS');

-- CreateEnum
CREATE TYPE "wave_gate" AS ENUM ('AUTO', 'MANUAL');

-- AlterTable
ALTER TABLE "device" ADD COLUMN     "chip" TEXT,
ADD COLUMN     "elf_sha256" TEXT,
ADD COLUMN     "ota_partitions" INTEGER,
ADD COLUMN     "reported_state" JSONB,
ADD COLUMN     "reported_state_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "abort_rules" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "approved_by" TEXT,
ADD COLUMN     "current_wave" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "daily_window" JSONB,
ADD COLUMN     "disconnect_expected" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "disruptive" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "firmware_image_id" UUID,
ADD COLUMN     "max_attempts" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "parent_job_id" UUID,
ADD COLUMN     "per_minute" INTEGER,
ADD COLUMN     "readback" JSONB,
ADD COLUMN     "skip_if_satisfied" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "start_at" TIMESTAMPTZ(3),
ADD COLUMN     "tripped_rule" JSONB,
ADD COLUMN     "verification" "verification" NOT NULL DEFAULT 'NONE',
ADD COLUMN     "waves" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "job_target" ADD COLUMN     "baseline_version" TEXT,
ADD COLUMN     "soft_deadline_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "job_counter" DROP CONSTRAINT "job_counter_pkey",
ADD COLUMN     "wave" INTEGER NOT NULL DEFAULT 1,
ADD CONSTRAINT "job_counter_pkey" PRIMARY KEY ("job_id", "wave", "shard");

-- CreateTable
CREATE TABLE "job_wave" (
    "job_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "size" INTEGER NOT NULL,
    "gate" "wave_gate" NOT NULL DEFAULT 'AUTO',
    "success_threshold" DOUBLE PRECISION NOT NULL,
    "soak_seconds" INTEGER NOT NULL,
    "opened_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "approved_by" TEXT,

    CONSTRAINT "job_wave_pkey" PRIMARY KEY ("job_id","number")
);

-- CreateTable
CREATE TABLE "device_group" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "filter" JSONB NOT NULL,
    "time_zone" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "device_group_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upload" (
    "id" UUID NOT NULL,
    "device_id" TEXT,
    "kind" "upload_kind" NOT NULL,
    "content_type" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "storage_key" TEXT NOT NULL,
    "thumbnail_key" TEXT,
    "question" TEXT,
    "answer" TEXT,
    "ticket_id" UUID,

    CONSTRAINT "upload_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "firmware_image" (
    "id" UUID NOT NULL,
    "kind" "firmware_kind" NOT NULL,
    "file_name" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "chip" TEXT NOT NULL,
    "idf_version" TEXT,
    "size_bytes" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "elf_sha256" TEXT,
    "storage_key" TEXT NOT NULL,
    "uploaded_at" TIMESTAMPTZ(3) NOT NULL,
    "uploaded_by" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3),
    "withdrawn_at" TIMESTAMPTZ(3),
    "notes" TEXT,

    CONSTRAINT "firmware_image_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "firmware_release" (
    "kind" "firmware_kind" NOT NULL,
    "model" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "image_id" UUID NOT NULL,

    CONSTRAINT "firmware_release_pkey" PRIMARY KEY ("kind","model","version")
);

-- CreateTable
CREATE TABLE "download" (
    "id" UUID NOT NULL,
    "image_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "job_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "requests" INTEGER NOT NULL DEFAULT 0,
    "bytes_served" BIGINT NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3),
    "last_byte_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "download_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "remote_address" TEXT,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "device_group_name_key" ON "device_group"("name");

-- CreateIndex
CREATE UNIQUE INDEX "upload_ticket_id_key" ON "upload"("ticket_id");

-- CreateIndex
CREATE INDEX "upload_device_id_id_idx" ON "upload"("device_id", "id" DESC);

-- CreateIndex
CREATE INDEX "firmware_release_image_id_idx" ON "firmware_release"("image_id");

-- CreateIndex
CREATE INDEX "download_job_id_device_id_idx" ON "download"("job_id", "device_id");

-- CreateIndex
CREATE INDEX "download_device_id_image_id_idx" ON "download"("device_id", "image_id");

-- CreateIndex
CREATE UNIQUE INDEX "audit_entry_sequence_key" ON "audit_entry"("sequence");

-- CreateIndex
CREATE INDEX "audit_entry_actor_id_idx" ON "audit_entry"("actor", "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entry_action_id_idx" ON "audit_entry"("action", "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entry_subject_id_idx" ON "audit_entry"("subject", "id" DESC);

-- By hand: claims ask for what may be sent in the open waves, verifications for what is overdue.
CREATE INDEX job_target_verifying_idx ON job_target (job_id, verify_deadline_at) WHERE state = 'VERIFYING';
CREATE INDEX job_target_retry_idx ON job_target (job_id, retry_at) WHERE state = 'RETRY_WAIT';
CREATE INDEX job_live_firmware_idx ON job (firmware_image_id) WHERE firmware_image_id IS NOT NULL AND state <> 'FINISHED';
