/**
 * The offer of an image to a device that is not connected, at its OTA request. An offer is a send,
 * so its intent is committed.
 */
import type { HubProcessId, JobId } from '@flotilla/mcp';
import { storableText } from '../../database/json-rows.js';
import { sql, SqlFile } from '../../database/sql-file.js';
import { wastedDownloads } from '../../firmware/wasted-downloads.js';
import type { FlashFacts, OtaContact } from '../../provisioning/provisioning.js';
import { imageIncompatibility, incompatibilityMessage } from './image-incompatibility.js';

/**
 * The device as it reports itself now; what it does not report comes from its row. $1 id, $2 model,
 * $3 version, $4 chip, $5 partitions, $6 hash of the ELF file, $7 facts of the flash.
 */
const AS_REPORTED = `(SELECT e.id, e.epoch, coalesce($2, e.model) AS model, $3::text AS firmware_version,
  coalesce($4, e.chip) AS chip, coalesce($5::int, e.ota_partitions) AS ota_partitions,
  coalesce($6, e.elf_sha256) AS elf_sha256, coalesce($7::jsonb, e.board_facts) AS board_facts
  FROM device e WHERE e.id = $1) AS d`;

/**
 * Whether the hub cut the newest download of the target `t`: it is neither complete nor broken off,
 * and its process is gone. verification/read-evidence.sql has the same.
 */
const IS_DOWNLOAD_CUT = `EXISTS (
    SELECT FROM (
      SELECT o.* FROM download o WHERE o.job_id = t.job_id AND o.device_id = t.device_id ORDER BY o.id DESC LIMIT 1) w
    WHERE w.server_id IS NOT NULL AND w.completed_at IS NULL AND w.broken_off_at IS NULL
      AND NOT EXISTS (SELECT FROM hub_process p WHERE p.id = w.server_id AND p.lease_until > now()))`;

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

const { integer, jsonb, orNull, text, timestamp, uuid } = sql;
const parts = { asReported: AS_REPORTED, mayBeOffered: MAY_BE_OFFERED };
const reported = {
  deviceId: text(),
  model: orNull(text()),
  firmwareVersion: orNull(text()),
  chip: orNull(text()),
  otaPartitions: orNull(integer),
  elfSha256: orNull(text()),
  flash: orNull(jsonb<FlashFacts>()),
};

export const FIND_CANDIDATE = new SqlFile(
  new URL('./find-candidate.sql', import.meta.url),
  {
    name: 'rollout-candidate',
    parameters: { ...reported, loopSince: timestamp, loopDownloads: integer },
    row: { job_id: uuid<JobId>(), version: text(), size_bytes: integer },
  },
  { ...parts, wastedDownloads: wastedDownloads('$1', '$8') },
);

export const OFFER = new SqlFile(
  new URL('./offer-image.sql', import.meta.url),
  {
    name: 'rollout-offer',
    parameters: {
      ...reported,
      jobId: uuid<JobId>(),
      at: timestamp,
      deadlineAt: timestamp,
      softDeadlineAt: timestamp,
      expiresAt: timestamp,
      loopSince: timestamp,
      loopDownloads: integer,
      serverId: orNull(uuid<HubProcessId>()),
    },
    row: { id: uuid() },
  },
  { ...parts, wastedDownloads: wastedDownloads('$1', '$13') },
);

export const END_CURRENT = new SqlFile(
  new URL('./end-current.sql', import.meta.url),
  {
    name: 'rollout-end-current',
    parameters: { ...reported, at: timestamp },
    row: { job_id: uuid<JobId>() },
  },
  {
    asReported: AS_REPORTED,
    incompatibility: imageIncompatibility(true),
    message: incompatibilityMessage("'ALREADY_CURRENT'"),
  },
);

/** The parameters of the device. */
export function reportedBy({ board, deviceId, firmwareVersion, model }: OtaContact) {
  return {
    deviceId: storableText(deviceId),
    model: model === undefined ? null : storableText(model),
    firmwareVersion: firmwareVersion === undefined ? null : storableText(firmwareVersion),
    chip: board?.chip ?? null,
    otaPartitions: board?.otaPartitions ?? null,
    elfSha256: board?.elfSha256 ?? null,
    flash: board?.flash ?? null,
  };
}
