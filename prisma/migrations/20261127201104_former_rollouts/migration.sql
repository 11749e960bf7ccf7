ALTER TABLE "desired_state_edit" ADD COLUMN     "rollout_job_ids" UUID[] DEFAULT ARRAY[]::UUID[];

-- The roll-outs that are under way.
UPDATE "desired_state_edit" e SET "rollout_job_ids" = ARRAY[s."rollout_job_id"]
FROM "desired_state" s
WHERE s."id" = e."desired_state_id" AND s."generation" = e."generation" AND s."rollout_job_id" IS NOT NULL;
