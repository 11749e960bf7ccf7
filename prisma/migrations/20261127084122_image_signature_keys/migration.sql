-- AlterTable
ALTER TABLE "firmware_image" ADD COLUMN     "secure_boot_keys" TEXT[];
