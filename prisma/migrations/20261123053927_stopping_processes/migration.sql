-- A process that drains: other processes take over its devices and jobs.
-- AlterTable
ALTER TABLE "hub_process" ADD COLUMN     "is_stopping" BOOLEAN NOT NULL DEFAULT false;
