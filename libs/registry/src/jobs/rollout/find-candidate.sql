-- The oldest roll-out that waits for the device, $1 to $7 as it reports itself. Left out are those whose
-- image it fetched too often without keeping it: $8 start of the loop window, $9 its limit.
SELECT j.id AS job_id, i.version, i.size_bytes FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
JOIN job_target t ON t.job_id = j.id AND t.device_id = $1, {{asReported}}
WHERE j.firmware_image_id IS NOT NULL AND j.state <> 'FINISHED' AND {{mayBeOffered}} AND {{wastedDownloads}} < $9
ORDER BY j.id LIMIT 1
