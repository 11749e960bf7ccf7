-- DropIndex
DROP INDEX "webhook_debt_next_at_idx";

-- AlterTable
ALTER TABLE "webhook" ADD COLUMN     "failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "retry_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "webhook_debt" ADD COLUMN     "owed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
ALTER TABLE "webhook_debt" ALTER COLUMN "owed_at" DROP DEFAULT;

-- CreateTable
CREATE TABLE "audit_anchor" (
    "is_only" BOOLEAN NOT NULL DEFAULT true,
    "sequence" BIGINT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_anchor_pkey" PRIMARY KEY ("is_only")
);

-- CreateIndex
CREATE INDEX "webhook_debt_webhook_id_next_at_event_id_idx" ON "webhook_debt"("webhook_id", "next_at", "event_id");

-- There is one anchor.
ALTER TABLE audit_anchor ADD CONSTRAINT audit_anchor_is_one CHECK (is_only);
-- How many deliveries of a webhook are under way is asked before each claim, and most of what is owed is not.
CREATE INDEX webhook_debt_claimed_idx ON webhook_debt (webhook_id) WHERE claimed_until IS NOT NULL;
