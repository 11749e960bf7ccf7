-- AlterTable
ALTER TABLE "device" ADD COLUMN     "address" TEXT,
ADD COLUMN     "dialer_id" UUID;

-- AlterTable
ALTER TABLE "tool_set" ADD COLUMN     "pins" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "tool" ADD COLUMN     "polling_interval_ms" INTEGER;

-- By hand: the few devices that are dialled among many that come by themselves.
CREATE INDEX device_dialled_idx ON device (id) WHERE address IS NOT NULL;
