-- AlterTable
ALTER TABLE "job" ADD COLUMN     "priority" INTEGER NOT NULL DEFAULT 2;


-- By hand: the targets of closed waves are many and only ever looked for wave by wave, so they leave the index in which waiting devices are looked for.
DROP INDEX job_target_waiting_idx;
CREATE INDEX job_target_waiting_idx ON job_target (job_id, device_id) WHERE state = 'WAITING_DEVICE';
CREATE INDEX job_target_pending_idx ON job_target (job_id, wave) WHERE state = 'PENDING';
