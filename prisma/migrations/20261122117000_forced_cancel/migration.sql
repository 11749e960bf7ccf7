-- A forced cancel was a pause reason of a job that was being cancelled.
ALTER TABLE "job" ADD COLUMN     "cancel_forced" BOOLEAN NOT NULL DEFAULT false;
UPDATE "job" SET "cancel_forced" = true, "pause_reason" = NULL WHERE "state" = 'CANCELLING' AND "pause_reason" = 'USER';

-- No job was ever paused for the two reasons that go.
CREATE TYPE "pause_reason_new" AS ENUM ('USER', 'WAVE_GATE', 'ABORT_RULE', 'WINDOW_CLOSED');
ALTER TABLE "job" ALTER COLUMN "pause_reason" TYPE "pause_reason_new" USING ("pause_reason"::text::"pause_reason_new");
ALTER TYPE "pause_reason" RENAME TO "pause_reason_old";
ALTER TYPE "pause_reason_new" RENAME TO "pause_reason";
DROP TYPE "pause_reason_old";
