-- Since when a webhook is enabled again: events that waited before do not count towards its limit.
ALTER TABLE "webhook" ADD COLUMN "enabled_at" TIMESTAMPTZ(3);
