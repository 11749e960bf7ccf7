-- Written by `npm run db:migration`; by hand: everything from "What Prisma cannot say" on.

-- AlterTable
ALTER TABLE "device" ADD COLUMN     "client_uuid_hash" TEXT,
ADD COLUMN     "enrolled_at" TIMESTAMPTZ(3),
ADD COLUMN     "preferred_transport" "transport_kind",
ADD COLUMN     "time_zone" TEXT;

-- CreateTable
CREATE TABLE "removed_device" (
    "device_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "removed_device_pkey" PRIMARY KEY ("device_id")
);

-- CreateTable
CREATE TABLE "device_credential" (
    "device_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "mqtt_client_id" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "secret" TEXT,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "device_credential_pkey" PRIMARY KEY ("device_id","generation")
);

-- CreateTable
CREATE TABLE "enrolment" (
    "id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "client_uuid_hash" TEXT NOT NULL,
    "model" TEXT,
    "firmware_version" TEXT,
    "remote_address" TEXT,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "last_request_at" TIMESTAMPTZ(3) NOT NULL,
    "admitted_at" TIMESTAMPTZ(3),

    CONSTRAINT "enrolment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval_failure" (
    "id" BIGSERIAL NOT NULL,
    "approver" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "approval_failure_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "enrolment_link" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "tags" TEXT[],
    "max_devices" INTEGER NOT NULL,
    "used_count" INTEGER NOT NULL DEFAULT 0,
    "token_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "enrolment_link_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "factory_key" (
    "serial" TEXT NOT NULL,
    "key" BYTEA NOT NULL,
    "device_id" TEXT,

    CONSTRAINT "factory_key_pkey" PRIMARY KEY ("serial")
);

-- CreateTable
CREATE TABLE "provisioning_change" (
    "device_id" TEXT NOT NULL,
    "transaction_id" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provisioning_change_pkey" PRIMARY KEY ("device_id")
);

-- CreateIndex
CREATE INDEX "enrolment_device_id_idx" ON "enrolment"("device_id");

-- CreateIndex
CREATE INDEX "approval_failure_at_idx" ON "approval_failure"("at");

-- CreateIndex
CREATE UNIQUE INDEX "enrolment_link_token_hash_key" ON "enrolment_link"("token_hash");

-- CreateIndex
CREATE INDEX "provisioning_change_transaction_id_idx" ON "provisioning_change"("transaction_id");


-- What Prisma cannot say.

-- A code names one device that waits, and a device with one identity waits once.
CREATE UNIQUE INDEX "enrolment_pending_code_idx" ON "enrolment"("code") WHERE "admitted_at" IS NULL;
CREATE UNIQUE INDEX "enrolment_pending_device_idx" ON "enrolment"("device_id", "client_uuid_hash") WHERE "admitted_at" IS NULL;
