-- Lists by name: devices without one come last.
DROP INDEX "device_name_order_idx";
CREATE INDEX "device_name_order_idx" ON "device"(("name" IS NULL), (coalesce("name", '')), "id");
