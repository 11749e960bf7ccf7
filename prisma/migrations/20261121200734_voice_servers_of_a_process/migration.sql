-- AlterTable
ALTER TABLE "hub_process" ADD COLUMN     "voice_servers" JSONB NOT NULL DEFAULT '[]';
