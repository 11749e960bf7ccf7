-- AlterTable
ALTER TABLE "tool_policy" ADD COLUMN     "read_only" BOOLEAN;
