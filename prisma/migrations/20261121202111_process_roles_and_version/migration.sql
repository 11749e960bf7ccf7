-- AlterTable
ALTER TABLE "hub_process" ADD COLUMN     "roles" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "version" TEXT NOT NULL DEFAULT '';
