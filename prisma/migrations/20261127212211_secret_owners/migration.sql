-- AlterTable
ALTER TABLE "desired_state" ADD COLUMN     "secrets_by_id" TEXT;

-- AlterTable
ALTER TABLE "recurring_job" ADD COLUMN     "secrets_by_id" TEXT;
