ALTER TABLE "desired_state_edit" ADD COLUMN     "rollout_job_ids" UUID[] DEFAULT ARRAY[]::UUID[];
