-- CreateTable
CREATE TABLE "alert_rule" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "devices" JSONB,
    "severity" TEXT NOT NULL,
    "for_seconds" INTEGER NOT NULL,
    "threshold" DOUBLE PRECISION,
    "path" TEXT,
    "below" BOOLEAN NOT NULL,
    "window_seconds" INTEGER NOT NULL,
    "group_above" INTEGER NOT NULL,
    "repeat_every_seconds" INTEGER,
    "channel_ids" UUID[],
    "enabled" BOOLEAN NOT NULL,
    "snoozed_until" TIMESTAMPTZ(3),
    "shipped_as" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "alert_rule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_snooze" (
    "rule_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "alert_snooze_pkey" PRIMARY KEY ("rule_id","device_id")
);

-- CreateTable
CREATE TABLE "alert_condition" (
    "rule_id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "device_id" TEXT,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "by_hub" BOOLEAN NOT NULL,
    "facts" JSONB NOT NULL,
    "cleared_at" TIMESTAMPTZ(3),
    "alert_id" UUID,
    "fired_at" TIMESTAMPTZ(3),

    CONSTRAINT "alert_condition_pkey" PRIMARY KEY ("rule_id","subject")
);

-- CreateTable
CREATE TABLE "alert" (
    "id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    "severity" TEXT NOT NULL,
    "device_id" TEXT,
    "is_group" BOOLEAN NOT NULL,
    "device_count" INTEGER NOT NULL,
    "facts" JSONB NOT NULL,
    "fired_at" TIMESTAMPTZ(3) NOT NULL,
    "group_until" TIMESTAMPTZ(3),
    "resolved_at" TIMESTAMPTZ(3),
    "acknowledged_by" TEXT,
    "acknowledged_at" TIMESTAMPTZ(3),
    "note" TEXT,
    "repeat_at" TIMESTAMPTZ(3),

    CONSTRAINT "alert_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_device" (
    "alert_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "cleared_at" TIMESTAMPTZ(3),

    CONSTRAINT "alert_device_pkey" PRIMARY KEY ("alert_id","device_id")
);

-- CreateTable
CREATE TABLE "notification_channel" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "config" JSONB NOT NULL,
    "sealed_config" BYTEA NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "retry_at" TIMESTAMPTZ(3),
    "paced_until" TIMESTAMPTZ(3),
    "claimed_by" UUID,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "notification_channel_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notification" (
    "id" UUID NOT NULL,
    "alert_id" UUID NOT NULL,
    "channel_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "message_id" UUID,
    "delivered_at" TIMESTAMPTZ(3),
    "given_up_at" TIMESTAMPTZ(3),

    CONSTRAINT "notification_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_evaluator" (
    "is_only" BOOLEAN NOT NULL DEFAULT true,
    "process_id" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "alert_evaluator_pkey" PRIMARY KEY ("is_only")
);

-- CreateIndex
CREATE UNIQUE INDEX "alert_rule_shipped_as_key" ON "alert_rule"("shipped_as");

-- CreateIndex
CREATE INDEX "alert_rule_id_id_idx" ON "alert"("rule_id", "id" DESC);

-- CreateIndex
CREATE INDEX "alert_device_device_id_alert_id_idx" ON "alert_device"("device_id", "alert_id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "notification_channel_name_key" ON "notification_channel"("name");

-- CreateIndex
CREATE INDEX "notification_alert_id_channel_id_idx" ON "notification"("alert_id", "channel_id");

-- Names are unique among the rules that were not deleted.
CREATE UNIQUE INDEX alert_rule_name_key ON alert_rule (name) WHERE deleted_at IS NULL;

-- Firing alerts, and those of them that repeat: few among all that are kept.
CREATE INDEX alert_firing_idx ON alert (id DESC) WHERE resolved_at IS NULL;

-- Conditions that have not fired, and those that have, each by rule or alert.
CREATE INDEX alert_condition_waiting_idx ON alert_condition (rule_id, began_at) WHERE alert_id IS NULL;
CREATE INDEX alert_condition_fired_idx ON alert_condition (alert_id) WHERE alert_id IS NOT NULL;

-- The outbox proper: what is neither delivered nor given up.
CREATE INDEX notification_waiting_idx ON notification (channel_id, id) WHERE delivered_at IS NULL AND given_up_at IS NULL;
