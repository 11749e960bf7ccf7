-- AlterTable
ALTER TABLE "device" ADD COLUMN     "booted_at" TIMESTAMPTZ(3),
ADD COLUMN     "booted_version" TEXT;

-- AlterTable
ALTER TABLE "job_target" ADD COLUMN     "cut_retries" SMALLINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "download" ADD COLUMN     "broken_off_at" TIMESTAMPTZ(3),
ADD COLUMN     "server_id" UUID;
