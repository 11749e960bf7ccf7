-- CreateTable
CREATE TABLE "desired_state" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "plan" JSONB NOT NULL,
    "secret_arguments" BYTEA,
    "readback" JSONB NOT NULL,
    "property" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "paused_reason" TEXT,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "settled_generation" INTEGER NOT NULL,
    "rollout_job_id" UUID,
    "edited_at" TIMESTAMPTZ(3) NOT NULL,
    "t50_ms" DOUBLE PRECISION,
    "t95_ms" DOUBLE PRECISION,
    "t99_ms" DOUBLE PRECISION,
    "owner_id" UUID,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "created_by" TEXT NOT NULL,
    "created_by_id" TEXT NOT NULL,
    "saved_by_id" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "desired_state_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "desired_state_edit" (
    "desired_state_id" UUID NOT NULL,
    "generation" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "by" TEXT NOT NULL,
    "plan" JSONB NOT NULL,
    "secret_arguments" BYTEA,
    "readback" JSONB NOT NULL,

    CONSTRAINT "desired_state_edit_pkey" PRIMARY KEY ("desired_state_id","generation")
);

-- CreateTable
CREATE TABLE "desired_state_target" (
    "desired_state_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "observed_generation" INTEGER NOT NULL,
    "synced_generation" INTEGER NOT NULL DEFAULT 0,
    "reported" JSONB,
    "reported_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" TIMESTAMPTZ(3),
    "edge_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3),
    "reverts" JSONB NOT NULL DEFAULT '[]',
    "error_code" TEXT,
    "error_message" TEXT,
    "rpc_code" INTEGER,
    "blocked_by" UUID[] DEFAULT ARRAY[]::UUID[],
    "is_sending" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "desired_state_target_pkey" PRIMARY KEY ("desired_state_id","device_id")
);

-- CreateTable
CREATE TABLE "desired_state_counter" (
    "desired_state_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "targets" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "desired_state_counter_pkey" PRIMARY KEY ("desired_state_id","state")
);

-- CreateIndex
CREATE UNIQUE INDEX "desired_state_name_key" ON "desired_state"("name");

-- CreateIndex
CREATE INDEX "desired_state_property_idx" ON "desired_state"("property");

-- CreateIndex
CREATE UNIQUE INDEX "desired_state_created_by_id_idempotency_key_key" ON "desired_state"("created_by_id", "idempotency_key");

-- CreateIndex
CREATE INDEX "desired_state_target_desired_state_id_state_device_id_idx" ON "desired_state_target"("desired_state_id", "state", "device_id");

-- Entries change often, and their indexed state with them.
ALTER TABLE desired_state_target SET (fillfactor = 80);

-- The worker looks at these each second. Most entries are never due.
CREATE INDEX desired_state_target_due_idx ON desired_state_target (desired_state_id, due_at) WHERE due_at IS NOT NULL;

-- Two sets are never under way for one device.
CREATE UNIQUE INDEX desired_state_target_sending_key ON desired_state_target (device_id) WHERE is_sending;

-- The device page, and the condition outOfSync of device filters.
CREATE INDEX desired_state_target_device_idx ON desired_state_target (device_id);
CREATE INDEX desired_state_target_out_of_sync_idx ON desired_state_target (device_id)
  WHERE state IN ('APPLYING', 'RETRYING', 'WAITING_DEVICE', 'DRIFTED', 'HELD', 'CONFLICT', 'FAILED');
