-- By hand. An update that changes nothing that any index names writes no index (HOT). A claim changed the state, which the partial indexes of live targets name, and
-- the call, which the lists are in the order of: ten index entries for each target's life of three row versions. So indexes name two columns that follow the state
-- and the call, but not into a claim: a target whose intent is committed is still READY there, and its call is listed once it is answered, or unanswered for a second.
DROP INDEX "job_target_ready_idx", "job_target_waiting_idx", "job_target_pending_idx", "job_target_in_flight_idx", "job_target_verifying_idx",
  "job_target_retry_idx", "job_target_failed_call_idx", "job_target_call_idx", "job_target_device_call_idx", "job_target_job_call_idx";

ALTER TABLE "job_target"
  ADD COLUMN "indexed_state" "target_state" GENERATED ALWAYS AS (CASE WHEN "state" = 'DISPATCHING' THEN 'READY' ELSE "state" END) STORED,
  ADD COLUMN "listed_call_id" UUID GENERATED ALWAYS AS (CASE WHEN "state" <> 'DISPATCHING' THEN "call_id" END) STORED;

CREATE INDEX "job_target_ready_idx" ON "job_target"("job_id", "ordinal") WHERE "indexed_state" = 'READY';
CREATE INDEX "job_target_waiting_idx" ON "job_target"("job_id", "device_id") WHERE "indexed_state" = 'WAITING_DEVICE';
CREATE INDEX "job_target_pending_idx" ON "job_target"("job_id", "wave") WHERE "indexed_state" = 'PENDING';
CREATE INDEX "job_target_sent_idx" ON "job_target"("job_id", "device_id") WHERE "indexed_state" = 'SENT';
CREATE INDEX "job_target_verifying_idx" ON "job_target"("job_id", "verify_deadline_at") WHERE "indexed_state" = 'VERIFYING';
CREATE INDEX "job_target_retry_idx" ON "job_target"("job_id", "retry_at") WHERE "indexed_state" = 'RETRY_WAIT';

-- The calls that targets are, latest first: of all devices, of one, of one job (and through its jobs of one tool), and those that did not succeed.
CREATE INDEX "job_target_call_idx" ON "job_target"("listed_call_id" DESC) WHERE "listed_call_id" IS NOT NULL;
CREATE INDEX "job_target_device_call_idx" ON "job_target"("device_id", "listed_call_id" DESC) WHERE "listed_call_id" IS NOT NULL;
CREATE INDEX "job_target_job_call_idx" ON "job_target"("job_id", "listed_call_id" DESC) WHERE "listed_call_id" IS NOT NULL;
CREATE INDEX "job_target_failed_call_idx" ON "job_target"("outcome", "listed_call_id" DESC) WHERE "listed_call_id" IS NOT NULL AND "outcome" <> 'SUCCEEDED';
