-- The number of downloads that may start for a job now. $1 time, $2 limit of the hub, $3 start of a
-- stall, $4 job.
SELECT greatest(0, least(
  -- Room in the hub: the limit minus open downloads, without those of decided targets.
  $2::int - (SELECT count(*) FROM download w
    WHERE w.completed_at IS NULL AND w.expires_at > $1 AND (w.last_byte_at IS NULL OR w.last_byte_at >= $3)
      AND {{isTargetActive}}),
  -- Room in the job: what `maxInFlight` and the pace leave, for connected devices and OTA requests
  -- together.
  j.max_in_flight - (SELECT count(*) FROM download w
    WHERE w.job_id = j.id AND w.completed_at IS NULL AND w.expires_at > $1 AND {{isTargetActive}}),
  {{perMinute}} - (SELECT count(*) FROM download w
    WHERE w.id >= (lpad(to_hex((extract(epoch FROM $1::timestamptz) * 1000)::bigint - 60000), 12, '0')
      || repeat('0', 20))::uuid
    -- Not those that began before a clock was set back.
    AND w.id < (lpad(to_hex((extract(epoch FROM $1::timestamptz) * 1000)::bigint + 60000), 12, '0')
      || repeat('0', 20))::uuid AND w.job_id = j.id)))::int AS room
FROM job j WHERE j.id = $4
