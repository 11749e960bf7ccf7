/** What PostgreSQL knows about the devices of targets that are being verified: sessions, versions, bytes served. One statement per look at a job. */
import type { DownloadState } from '@flotilla/jobs';
import type { CallError, CallId, DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { JobFence, VerificationLook, VerifyingTarget } from '../job-types.js';
import { downloadState, hasAnswered, newestDownload } from './download-state.js';

interface EvidenceRecord {
  readonly verifying_count: number;
  /** Null in the one row of a look without news. */
  readonly device_id: DeviceId | null;
  readonly claim: number;
  readonly attempts: number;
  readonly call_id: CallId;
  readonly sent_epoch: number;
  readonly epoch: number | null;
  readonly is_online: boolean;
  readonly has_left: boolean;
  readonly gateway_id: HubProcessId | null;
  readonly tool_set_hash: ToolSetHash | null;
  readonly firmware_version: string | null;
  readonly baseline_version: string | null;
  readonly expected_version: string | null;
  readonly back_since: Date | null;
  readonly last_byte_at: Date | null;
  readonly verify_deadline_at: Date;
  readonly soft_deadline_at: Date | null;
  readonly connected_at: Date | null;
  readonly boot_at: Date | null;
  readonly boot_version: string | null;
  readonly has_answered: boolean;
  readonly download: DownloadState;
  readonly cut_retries: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/**
 * Targets in VERIFYING about which something can be said by now: the device is back or asked its OTA address, it said that its upgrade failed, or a deadline
 * has passed. `callId` names one whose answer came late and which is wanted whatever there is to say. Both the send and an OTA request have the hub's time: a
 * request that is on record before the send is marked as sent counts anyway, because the row is compared and not the order of the writes.
 *
 * A device has left by itself if its connection was not ended by the hub, and its gateway outlived it: one that the device replaced only counts where
 * the new one is at the same process, because a killed process leaves its sessions open for their devices to replace.
 */
export async function readEvidence(
  db: Queryable,
  { jobId, fence }: JobFence,
  at: number,
  callId?: CallId,
): Promise<VerificationLook> {
  const rows = await db.query<EvidenceRecord>(
    {
      name: 'job-evidence',
      text: `WITH fenced AS (
       SELECT j.id, j.verification, i.version AS expected_version FROM job j LEFT JOIN firmware_image i ON i.id = j.firmware_image_id
       WHERE j.id = $1 AND j.fence = $2),
     verifying AS MATERIALIZED (SELECT t.* FROM fenced f JOIN job_target t ON t.job_id = f.id WHERE t.indexed_state = 'VERIFYING'),
     news AS (
       SELECT t.*, d.epoch AS device_epoch, (d.online AND g.lease_until > now()) IS TRUE AS is_online, d.connected_at, d.gateway_id AS gateway,
         d.tool_set_hash, d.firmware_version, f.expected_version, CASE WHEN d.booted_at > t.started_at THEN d.booted_at END AS boot_at,
         d.booted_version AS boot_version
       FROM fenced f CROSS JOIN verifying t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id
       WHERE t.verify_deadline_at <= $3 OR t.soft_deadline_at <= $3 OR t.call_id = $4 OR ${hasAnswered('t')}
         OR (f.verification <> 'READBACK' AND (d.booted_at > t.started_at OR (d.online AND d.epoch > t.epoch AND g.lease_until > now()))))
     SELECT (SELECT count(*) FROM verifying)::int AS verifying_count, n.device_id, n.claim, n.attempts, n.call_id, n.epoch AS sent_epoch,
       n.device_epoch AS epoch, n.is_online, n.gateway AS gateway_id, n.tool_set_hash, n.baseline_version, n.expected_version,
       coalesce(newest.firmware_version, n.firmware_version) AS firmware_version, n.connected_at, n.boot_at, n.boot_version,
       ${hasAnswered('n')} AS has_answered, ${downloadState('n')} AS download, n.cut_retries,
       (s.close_reason IN ('device_closed', 'connection_lost') OR (s.close_reason = 'taken_over' AND s.gateway_id = n.gateway)) IS TRUE AS has_left,
       coalesce(back.since, CASE WHEN n.device_epoch > n.epoch AND ${isWanted('n.firmware_version', 'n')} THEN n.connected_at END) AS back_since,
       (SELECT max(w.last_byte_at) FROM download w WHERE w.job_id = n.job_id AND w.device_id = n.device_id) AS last_byte_at,
       n.verify_deadline_at, n.soft_deadline_at, n.error_code, n.error_message
     FROM (SELECT) one LEFT JOIN news n ON true LEFT JOIN session s ON s.device_id = n.device_id AND s.epoch = n.epoch
     LEFT JOIN session newest ON newest.device_id = n.device_id AND newest.epoch = n.device_epoch
     ${newestDownload('n')}
     LEFT JOIN LATERAL (
       SELECT min(b.connected_at) AS since FROM session b
       WHERE b.device_id = n.device_id AND b.epoch > n.epoch AND ${isWanted('b.firmware_version', 'n')}) back ON true`,
    },
    [jobId, fence, new Date(at), callId ?? null],
  );
  return {
    verifyingCount: rows[0]?.verifying_count ?? 0,
    targets: rows.flatMap((row) => (row.device_id === null ? [] : [targetOf({ ...row, device_id: row.device_id })])),
  };
}

/** Where only an address was told, any firmware but the one before. */
function isWanted(version: string, target: string): string {
  return `(${version} = ${target}.expected_version OR (${target}.expected_version IS NULL AND ${version} <> ${target}.baseline_version))`;
}

function targetOf(row: EvidenceRecord & { readonly device_id: DeviceId }): VerifyingTarget {
  return {
    deviceId: row.device_id,
    attempt: row.claim,
    attempts: row.attempts - row.cut_retries,
    cutRetries: row.cut_retries,
    callId: row.call_id,
    gatewayId: row.gateway_id ?? undefined,
    toolSetHash: row.tool_set_hash ?? undefined,
    sentEpoch: row.sent_epoch,
    epoch: row.epoch ?? undefined,
    isOnline: row.is_online,
    hasLeft: row.has_left,
    version: row.firmware_version ?? undefined,
    baselineVersion: row.baseline_version ?? undefined,
    expectedVersion: row.expected_version ?? undefined,
    backSince: row.back_since?.getTime(),
    connectedAt: row.connected_at?.getTime(),
    bootedAt: row.boot_at?.getTime(),
    bootVersion: row.boot_version ?? undefined,
    hasAnswered: row.has_answered,
    download: row.download,
    lastByteAt: row.last_byte_at?.getTime(),
    deadlineAt: row.verify_deadline_at.getTime(),
    softDeadlineAt: row.soft_deadline_at?.getTime(),
    callError:
      row.error_code === null
        ? undefined
        : { code: row.error_code as CallError['code'], message: row.error_message ?? '' },
  };
}

/** Devices that should have been back and are not, by wave: what a rule about lost devices counts before anything is decided. [jobs §12] */
export async function readOverdue(
  db: Queryable,
  jobId: string,
  at: number,
  overdueMs: number,
): Promise<ReadonlyMap<number, number>> {
  const rows = await db.query<{ wave: number; count: number }>(
    {
      text: `SELECT t.wave, count(*)::int AS count FROM job_target t
       LEFT JOIN device d ON d.id = t.device_id LEFT JOIN hub_process g ON g.id = d.gateway_id
       WHERE t.job_id = $1 AND t.indexed_state = 'VERIFYING' AND t.soft_deadline_at <= $2 AND (d.online AND g.lease_until > now()) IS NOT TRUE
         AND (d.booted_at > t.started_at) IS NOT TRUE
         AND NOT EXISTS (SELECT FROM download w WHERE w.job_id = t.job_id AND w.device_id = t.device_id
           AND w.last_byte_at > $2::timestamptz - $3 * interval '1 millisecond')
       GROUP BY t.wave`,
    },
    [jobId, new Date(at), overdueMs],
  );
  return new Map(rows.map(({ wave, count }) => [wave, count]));
}
