-- By hand: the calls of one job, and through its jobs those of one tool, latest first. Without it both walk the targets of all jobs since.
CREATE INDEX "job_target_job_call_idx" ON "job_target"("job_id", "call_id" DESC) WHERE "call_id" IS NOT NULL;
