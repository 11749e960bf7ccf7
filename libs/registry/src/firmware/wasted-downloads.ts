/**
 * Counts how often a device fetched an image without keeping it. Above a limit it is not sent the
 * image again.
 */

/**
 * SQL of a number: whole downloads of the image `i` by the device since then. Downloads of a
 * roll-out that succeeded on the device do not count: it ran the image, and later got another one
 * on purpose.
 */
export function wastedDownloads(deviceId: string, since: string): string {
  return `(SELECT coalesce(sum(v.bytes_served / i.size_bytes), 0)::int FROM download v
    WHERE v.device_id = ${deviceId} AND v.image_id = i.id AND v.last_byte_at >= ${since}
      AND NOT EXISTS (SELECT FROM job_target k
        WHERE k.job_id = v.job_id AND k.device_id = v.device_id AND k.outcome = 'SUCCEEDED'))`;
}
