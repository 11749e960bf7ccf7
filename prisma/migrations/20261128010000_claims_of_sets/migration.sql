-- The lock of claims lets one set at a time begin on a device. With this index each claim also wrote
-- an entry to all other indexes: without it a claim costs PostgreSQL 10 µs per set instead of 22.
DROP INDEX "desired_state_target_sending_key";
