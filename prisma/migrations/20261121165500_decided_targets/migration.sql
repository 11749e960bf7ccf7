-- By hand: who follows a job asks again and again for what was decided since.
CREATE INDEX job_target_decided_idx ON job_target (job_id, decided_at, device_id) WHERE state = 'DECIDED';
