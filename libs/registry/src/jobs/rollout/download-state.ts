/**
 * Whether the hub cut the newest download of a target, or the device ended it, as SQL.
 * verification/read-evidence.sql has the same.
 */

/**
 * Whether the hub cut the newest download of the target `t`: it is neither complete nor broken off,
 * and its process is gone.
 */
export const IS_DOWNLOAD_CUT = `EXISTS (
    SELECT FROM (
      SELECT o.* FROM download o WHERE o.job_id = t.job_id AND o.device_id = t.device_id ORDER BY o.id DESC LIMIT 1) w
    WHERE w.server_id IS NOT NULL AND w.completed_at IS NULL AND w.broken_off_at IS NULL
      AND NOT EXISTS (SELECT FROM hub_process p WHERE p.id = w.server_id AND p.lease_until > now()))`;
