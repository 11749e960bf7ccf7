-- When a process stored the set last, so that retention can remove those that no device has.
ALTER TABLE "tool_set" ADD COLUMN "stored_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
