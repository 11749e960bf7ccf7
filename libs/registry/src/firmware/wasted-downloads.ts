/** How often a device has fetched an image that it did not keep: the measure by which it is sent it no more. */

/**
 * A number, as SQL: whole downloads of the image `i` since then. Those of a roll-out that succeeded on the device were not in vain: it ran the image, and
 * was given another one on purpose afterwards.
 */
export function vainDownloads(deviceId: string, since: string): string {
  return `(SELECT coalesce(sum(v.bytes_served / i.size_bytes), 0)::int FROM download v
    WHERE v.device_id = ${deviceId} AND v.image_id = i.id AND v.last_byte_at >= ${since}
      AND NOT EXISTS (SELECT FROM job_target k WHERE k.job_id = v.job_id AND k.device_id = v.device_id AND k.outcome = 'SUCCEEDED'))`;
}
