-- AlterTable
ALTER TABLE "job" ADD COLUMN     "recurring_job_id" UUID;

-- CreateTable
CREATE TABLE "recurring_job" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "cron" TEXT NOT NULL,
    "time_zone" TEXT NOT NULL,
    "request" JSONB NOT NULL,
    "secret_arguments" BYTEA,
    "missed" TEXT NOT NULL,
    "overlap" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3),
    "enabled" BOOLEAN NOT NULL,
    "paused_reason" TEXT,
    "next_run_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_by_id" TEXT NOT NULL,
    "saved_by_id" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recurring_job_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "recurring_job_name_key" ON "recurring_job"("name");

-- CreateIndex
CREATE INDEX "recurring_job_next_run_at_idx" ON "recurring_job"("next_run_at");

-- CreateIndex
CREATE UNIQUE INDEX "recurring_job_created_by_id_idempotency_key_key" ON "recurring_job"("created_by_id", "idempotency_key");

-- The jobs of a schedule, latest first. Most jobs have none.
CREATE INDEX job_recurring_idx ON job (recurring_job_id, id DESC) WHERE recurring_job_id IS NOT NULL;
