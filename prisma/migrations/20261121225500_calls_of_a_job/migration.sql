-- By hand: the calls of one job, and through its jobs those of one tool, latest first. Without it both walk the targets of all jobs since. Those that are under way are
-- left to job_target_in_flight_idx: like this a target costs one entry here and not two.
CREATE INDEX "job_target_job_call_idx" ON "job_target"("job_id", "call_id" DESC) WHERE "call_id" IS NOT NULL AND "state" IN ('VERIFYING', 'DECIDED');
