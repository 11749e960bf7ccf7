-- Where devices can be sent: the own MQTT address of a gateway, and whether it accepts devices.
-- AlterTable
ALTER TABLE "hub_process" ADD COLUMN     "accepts_devices" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "mqtt_endpoint" TEXT;
