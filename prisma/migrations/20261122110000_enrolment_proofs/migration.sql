-- AlterTable
ALTER TABLE "device" ADD COLUMN     "admit_without_code_until" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "enrolment" ADD COLUMN     "remote_network" TEXT;
