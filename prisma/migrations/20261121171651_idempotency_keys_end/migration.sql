-- AlterTable
ALTER TABLE "job" ALTER COLUMN "idempotency_key" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "call_key_started_at_idx" ON "call_key"("started_at");
