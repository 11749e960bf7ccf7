/** What became of the newest download of a target, as SQL: what tells a download that the hub itself cut from one that the device broke off. */

/** Joins: the newest download `w` of the target `t`, and its process `p` where that has a living lease. */
export function newestDownload(t: string): string {
  return `LEFT JOIN LATERAL (
      SELECT o.* FROM download o WHERE o.job_id = ${t}.job_id AND o.device_id = ${t}.device_id ORDER BY o.id DESC LIMIT 1) w ON true
    LEFT JOIN hub_process p ON p.id = w.server_id AND p.lease_until > now()`;
}

/** The device answered the upgrade at the process that was to serve its image: that process was alive. */
const ANSWERED = 'UPDATE_DID_NOT_START_OR_FAILED';

export function hasAnswered(t: string): string {
  return `coalesce(${t}.error_code = '${ANSWERED}', false)`;
}

/** `DownloadState` of libs/jobs. A download without a process is one of a former version of the hub. */
export function downloadState(t: string): string {
  return `CASE WHEN w.server_id IS NULL THEN 'NONE' WHEN w.completed_at IS NOT NULL OR w.broken_off_at IS NOT NULL THEN 'OVER'
    WHEN p.id IS NULL THEN 'CUT' WHEN w.started_at IS NULL AND ${hasAnswered(t)} AND w.server_id = ${t}.gateway_id THEN 'OVER' ELSE 'OPEN' END`;
}

/** A statement that frees the places of these devices' unfinished downloads in the job `$1`: another send gets a download of its own. */
export function endDownloads(devices: string, at: string, job = '$1'): string {
  return `UPDATE download o SET expires_at = least(o.expires_at, ${at}) WHERE o.job_id = ${job} AND o.device_id IN ${devices} AND o.completed_at IS NULL`;
}
