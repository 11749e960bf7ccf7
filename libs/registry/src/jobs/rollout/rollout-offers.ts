/** Devices that are not connected get their image at their next OTA check. Telling them of it is a send, so its intent is committed first. */
import type { HubProcessId, JobId } from '@flotilla/mcp';
import type { VerificationDeadlines } from '@flotilla/jobs';
import type { Database, Queryable } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import { vainDownloads } from '../../firmware/wasted-downloads.js';
import type { OtaContact } from '../../provisioning/provisioning.js';
import type { GrantedDownload, RolloutCandidate, RolloutLimits } from './rollout-types.js';
import { lockDisruptiveClaims } from '../queue/claim-targets.js';
import { countMoved, counterOf, SHARD } from '../queue/counter-sql.js';
import { downloadState, endDownloads, newestDownload } from '../verification/download-state.js';
import { imageObjection } from './image-incompatibility.js';
import { lockDownloads, readRoom } from './rollout-downloads.js';

/** The device by what it says now, and by what it said before where it says nothing. Parameters from `$1` on: id, model, version, chip, OTA partitions. */
const AS_TOLD = `(SELECT e.id, e.epoch, coalesce($2, e.model) AS model, $3::text AS firmware_version, coalesce($4, e.chip) AS chip,
  coalesce($5::int, e.ota_partitions) AS ota_partitions FROM device e WHERE e.id = $1) AS d`;

/** The hub cut the download of the first send, and the device says in this very request that it runs its old firmware: `retryOfUpgrade` of libs/jobs, as SQL. */
const IS_CUT = `(t.state = 'VERIFYING' AND t.cut_retries = 0 AND t.baseline_version = d.firmware_version AND EXISTS (
    SELECT FROM (SELECT) AS one ${newestDownload('t')} WHERE ${downloadState('t')} = 'CUT'))`;

/** Somebody must be there who stops the job when its window closes, its time is up or a rule trips: nothing is offered of one whose owner is gone. */
const MAY_BE_OFFERED = `j.state = 'RUNNING' AND j.expires_at > now() AND EXISTS (SELECT FROM hub_process p WHERE p.id = j.owner_id AND p.lease_until > now()) AND j.verification = 'FIRMWARE' AND i.kind = 'FIRMWARE'
  AND (t.state IN ('READY', 'WAITING_DEVICE') OR ${IS_CUT}) AND ${imageObjection(true)} IS NULL`;

function toldBy({ board, deviceId, firmwareVersion, model }: OtaContact): unknown[] {
  return [
    storableText(deviceId),
    model === undefined ? null : storableText(model),
    firmwareVersion === undefined ? null : storableText(firmwareVersion),
    board?.chip ?? null,
    board?.otaPartitions ?? null,
  ];
}

export async function isAnyRolloutRunning(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ is_any: boolean }>(
    {
      name: 'rollout-any',
      text: `SELECT EXISTS (SELECT FROM job WHERE firmware_image_id IS NOT NULL AND state <> 'FINISHED' AND state = 'RUNNING') AS is_any`,
    },
    [],
  );
  return row?.is_any === true;
}

export async function findCandidate(db: Queryable, contact: OtaContact): Promise<RolloutCandidate | undefined> {
  const [row] = await db.query<{ job_id: JobId; version: string; size_bytes: number }>(
    {
      name: 'rollout-candidate',
      text: `SELECT j.id AS job_id, i.version, i.size_bytes FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
       JOIN job_target t ON t.job_id = j.id AND t.device_id = $1, ${AS_TOLD}
       WHERE j.firmware_image_id IS NOT NULL AND j.state <> 'FINISHED' AND ${MAY_BE_OFFERED} ORDER BY j.id LIMIT 1`,
    },
    toldBy(contact),
  );
  return row && { jobId: row.job_id, version: row.version, sizeBytes: row.size_bytes };
}

interface OfferTerms {
  readonly deadlines: VerificationDeadlines;
  readonly limits: RolloutLimits;
  /** The process that answers the device, which is the one to serve the download until another one does. */
  readonly serverId: HubProcessId | undefined;
  /** Asked when the locks are held. */
  readonly isHeard: () => boolean;
}

export function offerUpdate(
  db: Database,
  jobId: JobId,
  contact: OtaContact,
  { deadlines, isHeard, limits, serverId }: OfferTerms,
): Promise<GrantedDownload | undefined> {
  const { at } = contact;
  const expiresAt = at + limits.grantMs;
  return db.transaction(async (transaction) => {
    await lockDisruptiveClaims(transaction);
    await lockDownloads(transaction);
    if (!isHeard() || (await readRoom(transaction, jobId, at, limits)) === 0) return undefined;
    const [row] = await transaction.query<{ id: string }>(
      {
        name: 'rollout-offer',
        text: `WITH chosen AS MATERIALIZED (
         SELECT t.ctid AS place, t.state AS state_before, d.epoch, d.firmware_version, i.id AS image_id
         FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id JOIN job_target t ON t.job_id = j.id AND t.device_id = $1, ${AS_TOLD}
         WHERE j.id = $6 AND ${MAY_BE_OFFERED}
           AND ${vainDownloads('$1', '$11')} < $12
           AND NOT EXISTS (SELECT FROM job o JOIN job_target h ON h.job_id = o.id AND h.device_id = $1
                WHERE o.id <> j.id AND o.state IN ('RUNNING', 'PAUSED', 'CANCELLING') AND h.state IN ('DISPATCHING', 'SENT', 'VERIFYING'))
         FOR SHARE OF j FOR UPDATE OF t SKIP LOCKED),
       updated AS (
         UPDATE job_target t SET state = 'VERIFYING', certainty = 'MAYBE', attempts = t.attempts + 1, claim = t.claim + 1, epoch = c.epoch,
           cut_retries = t.cut_retries + (c.state_before = 'VERIFYING')::int, error_code = NULL, error_message = NULL,
           gateway_id = NULL, retry_at = NULL, baseline_version = c.firmware_version, call_id = uuid_v7($7), started_at = $7, deadline_at = NULL,
           verify_deadline_at = $8, soft_deadline_at = $9
         FROM chosen c WHERE t.job_id = $6 AND t.ctid = c.place
         RETURNING t.wave, c.state_before, t.state, t.outcome, c.image_id),
       given_up AS (${endDownloads('(SELECT $1 FROM updated)', '$7', '$6')}),
       moved AS (SELECT wave, ${counterOf('state_before', 'outcome')} AS counter_before, ${counterOf('state', 'outcome')} AS counter_after FROM updated),
       ${countMoved(SHARD.offer, '$6::uuid')}
       INSERT INTO download (id, image_id, device_id, job_id, expires_at, server_id)
       SELECT uuid_v7($7), image_id, $1, $6, $10, $13 FROM updated RETURNING id`,
      },
      [
        ...toldBy(contact),
        ...[
          jobId,
          new Date(at),
          new Date(at + deadlines.deadlineMs),
          new Date(at + (deadlines.softMs ?? deadlines.deadlineMs)),
        ],
        ...[new Date(expiresAt), new Date(at - limits.loopWindowMs), limits.loopDownloads, serverId ?? null],
      ],
    );
    return row && { kind: 'granted', downloadId: row.id, expiresAt };
  });
}
