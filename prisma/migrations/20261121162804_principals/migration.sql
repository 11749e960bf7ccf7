-- What was made per name so far belongs to the key of that name; where several keys have it, to the oldest. A name without a key keeps what it has, apart from all keys.

-- DropIndex
DROP INDEX "job_created_by_idempotency_key_key";

-- AlterTable
ALTER TABLE "call_key" DROP CONSTRAINT "call_key_pkey",
ADD COLUMN     "principal" TEXT;

UPDATE "call_key" SET "principal" = coalesce(
  (SELECT 'KEY:' || k."id" FROM "api_key" k WHERE k."name" = "actor" ORDER BY k."created_at", k."id" LIMIT 1), 'NAME:' || "actor");

ALTER TABLE "call_key" ALTER COLUMN "principal" SET NOT NULL,
ADD CONSTRAINT "call_key_pkey" PRIMARY KEY ("principal", "key");

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "created_by_id" TEXT;

UPDATE "job" SET "created_by_id" = coalesce(
  (SELECT 'KEY:' || k."id" FROM "api_key" k WHERE k."name" = "created_by" ORDER BY k."created_at", k."id" LIMIT 1), 'NAME:' || "created_by");

ALTER TABLE "job" ALTER COLUMN "created_by_id" SET NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "job_created_by_id_idempotency_key_key" ON "job"("created_by_id", "idempotency_key");
