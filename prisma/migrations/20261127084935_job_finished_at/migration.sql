-- The Overview asks for jobs that ended badly in the last day. Without the index it reads all jobs.
CREATE INDEX "job_finished_at_idx" ON "job"("finished_at");
