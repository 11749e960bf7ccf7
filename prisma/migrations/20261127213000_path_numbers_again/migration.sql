-- Paths come and go. After the largest number, those of removed paths are used again.
ALTER SEQUENCE "measurement_path_id_seq" CYCLE;
