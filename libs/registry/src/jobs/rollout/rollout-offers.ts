/**
 * The offer of an image to a device that is not connected, at its OTA request. An offer is a send,
 * so its intent is committed.
 */
import { storableText } from '../../database/json-rows.js';
import { wastedDownloads } from '../../firmware/wasted-downloads.js';
import type { OtaContact } from '../../provisioning/provisioning.js';
import { IS_DOWNLOAD_CUT } from './download-state.js';
import { imageIncompatibility } from './image-incompatibility.js';

/**
 * The device as it reports itself now; what it does not report comes from its row. $1 id, $2 model,
 * $3 version, $4 chip, $5 partitions.
 */
const AS_REPORTED = `(SELECT e.id, e.epoch, coalesce($2, e.model) AS model, $3::text AS firmware_version,
  coalesce($4, e.chip) AS chip, coalesce($5::int, e.ota_partitions) AS ota_partitions
  FROM device e WHERE e.id = $1) AS d`;

/** The first five parameters of the statements below. */
export function reportedBy({ board, deviceId, firmwareVersion, model }: OtaContact): unknown[] {
  return [
    storableText(deviceId),
    model === undefined ? null : storableText(model),
    firmwareVersion === undefined ? null : storableText(firmwareVersion),
    board?.chip ?? null,
    board?.otaPartitions ?? null,
  ];
}

/**
 * The hub cut the first download, and the device now reports its old firmware. Same as
 * `retryOfUpgrade` in libs/jobs.
 */
const IS_CUT = `(t.state = 'VERIFYING' AND t.cut_retries = 0 AND t.baseline_version = d.firmware_version
    AND ${IS_DOWNLOAD_CUT})`;

/**
 * The job needs a living owner, which stops it when its window closes, it expires or an abort rule
 * trips.
 */
const MAY_BE_OFFERED = `j.state = 'RUNNING' AND j.expires_at > now()
  AND EXISTS (SELECT FROM hub_process p WHERE p.id = j.owner_id AND p.lease_until > now())
  AND j.verification = 'FIRMWARE' AND i.kind = 'FIRMWARE'
  AND (t.state IN ('READY', 'WAITING_DEVICE') OR ${IS_CUT}) AND ${imageIncompatibility(true)} IS NULL`;

export const FIND_CANDIDATE = {
  name: 'rollout-candidate',
  text: `SELECT j.id AS job_id, i.version, i.size_bytes FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
   JOIN job_target t ON t.job_id = j.id AND t.device_id = $1, ${AS_REPORTED}
   WHERE j.firmware_image_id IS NOT NULL AND j.state <> 'FINISHED' AND ${MAY_BE_OFFERED} ORDER BY j.id LIMIT 1`,
};

/**
 * $6 job, $7 time, $8 and $9 deadlines, $10 end of the grant, $11 start of the loop window, $12 its
 * limit, $13 process. The target becomes VERIFYING with a new download.
 */
export const OFFER = {
  name: 'rollout-offer',
  text: `WITH chosen AS MATERIALIZED (
     SELECT t.ctid AS place, t.state AS state_before, d.epoch, d.firmware_version, i.id AS image_id
     FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
     JOIN job_target t ON t.job_id = j.id AND t.device_id = $1, ${AS_REPORTED}
     WHERE j.id = $6 AND ${MAY_BE_OFFERED} AND ${wastedDownloads('$1', '$11')} < $12
       AND NOT EXISTS (SELECT FROM job o JOIN job_target h ON h.job_id = o.id AND h.device_id = $1
            WHERE o.id <> j.id AND o.state IN ('RUNNING', 'PAUSED', 'CANCELLING')
              AND h.state IN ('DISPATCHING', 'SENT', 'VERIFYING'))
     FOR SHARE OF j FOR UPDATE OF t SKIP LOCKED
   ), updated AS (
     UPDATE job_target t SET state = 'VERIFYING', certainty = 'MAYBE', attempts = t.attempts + 1, claim = t.claim + 1,
       epoch = c.epoch, cut_retries = t.cut_retries + (c.state_before = 'VERIFYING')::int, error_code = NULL,
       error_message = NULL, gateway_id = NULL, retry_at = NULL, baseline_version = c.firmware_version,
       call_id = uuid_v7($7), started_at = $7, deadline_at = NULL, verify_deadline_at = $8, soft_deadline_at = $9
     FROM chosen c WHERE t.job_id = $6 AND t.ctid = c.place
     RETURNING t.wave, c.state_before, t.state, t.outcome, c.image_id
   ), freed AS (
     UPDATE download o SET expires_at = least(o.expires_at, $7)
     WHERE o.job_id = $6 AND o.device_id IN (SELECT $1 FROM updated) AND o.completed_at IS NULL
   ), counted AS (
     INSERT INTO job_counter_move (job_id, shard, wave, counter_before, counter_after, targets)
     SELECT $6::uuid, 9, wave, target_counter(state_before, outcome), target_counter(state, outcome), 1 FROM updated
   )
   INSERT INTO download (id, image_id, device_id, job_id, expires_at, server_id)
   SELECT uuid_v7($7), image_id, $1, $6, $10, $13 FROM updated RETURNING id`,
};
