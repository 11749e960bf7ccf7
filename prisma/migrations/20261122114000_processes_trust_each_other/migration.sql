-- AlterTable
ALTER TABLE "call_key" ADD COLUMN     "process_id" UUID;

-- CreateTable
CREATE TABLE "hub_secret" (
    "name" TEXT NOT NULL,
    "secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "hub_secret_pkey" PRIMARY KEY ("name")
);
