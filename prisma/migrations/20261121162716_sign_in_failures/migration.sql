-- AlterTable
ALTER TABLE "user_account" DROP COLUMN "failures",
DROP COLUMN "locked_until";

-- CreateTable
CREATE TABLE "sign_in_failure" (
    "subject" TEXT NOT NULL,
    "failures" INTEGER NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_failure_pkey" PRIMARY KEY ("subject")
);

-- CreateIndex
CREATE INDEX "sign_in_failure_last_at_idx" ON "sign_in_failure"("last_at");
