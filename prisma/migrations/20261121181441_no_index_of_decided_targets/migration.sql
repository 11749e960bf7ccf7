-- By hand: who follows a job hears from its worker which targets were decided. The index was written with every target and read by nobody.
DROP INDEX job_target_decided_idx;
