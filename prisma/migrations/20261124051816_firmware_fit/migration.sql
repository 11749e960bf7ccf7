-- AlterTable
ALTER TABLE "device" ADD COLUMN     "board_facts" JSONB;

-- AlterTable
ALTER TABLE "firmware_image" ADD COLUMN     "flash_mode" TEXT,
ADD COLUMN     "max_chip_revision" INTEGER,
ADD COLUMN     "min_chip_revision" INTEGER,
ADD COLUMN     "secure_version" INTEGER;
