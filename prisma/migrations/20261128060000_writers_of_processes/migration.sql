-- Each process stores which of its writers are behind or have lost rows, for alerts about the hub:
-- the worker that evaluates rules sees its own writers only.
ALTER TABLE "hub_process" ADD COLUMN "writers" JSONB NOT NULL DEFAULT '[]';
