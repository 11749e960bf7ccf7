/** Roll-outs of firmware images: places for downloads, offers at OTA requests, and the way back. */
import type { VerificationDeadlines } from '@flotilla/jobs';
import type { CallError, CallErrorCode, DeviceId, HubProcessId, JobId } from '@flotilla/mcp';
import { targetScopeOf } from '../../access-scope/history-scope.js';
import type { Database } from '../../database/database.js';
import type { DeviceFilter } from '../../device-filter.js';
import { deviceCondition } from '../../devices/device-condition.js';
import { wastedDownloads } from '../../firmware/wasted-downloads.js';
import { groundFilter } from '../../groups/ground-filter.js';
import type { OtaContact } from '../../provisioning/provisioning.js';
import type { JobFence } from '../job-fence.js';
import type { JobScope } from '../job-scope.js';
import { lockClaims } from '../queue/claim-lock.js';
import { lockDownloads, readRoom, type RolloutLimits } from './download-room.js';
import { imageIncompatibility, incompatibilityMessage } from './image-incompatibility.js';
import { IS_ON_NEW_VERSION } from './on-new-version.js';
import { FIND_CANDIDATE, OFFER, reportedBy } from './rollout-offers.js';

export interface GrantedDownload {
  readonly kind: 'granted';
  readonly downloadId: string;
  readonly expiresAt: number;
}

/** `full`: no room now, try later. `refused`: the target is decided without being sent. */
export type RolloutGrant =
  GrantedDownload | { readonly kind: 'full' } | { readonly kind: 'refused'; readonly error: CallError };

/** A job with an image for a device. */
export interface RolloutCandidate {
  readonly jobId: JobId;
  readonly version: string;
  readonly sizeBytes: number;
}

/** Devices of a job that go back to the same image. */
export interface RevertGroup {
  /** Undefined if no image of this version is published for this board. */
  readonly imageId: string | undefined;
  readonly model: string | undefined;
  readonly version: string;
  readonly count: number;
}

/** Devices that cannot use an image, for one reason. */
export interface IncompatibilityGroup {
  readonly message: string;
  readonly deviceCount: number;
}

interface GrantRecord {
  readonly device_id: DeviceId;
  readonly incompatibility: CallErrorCode | null;
  readonly message: string | null;
  readonly whole: number;
  readonly download_id: string | null;
}

export class RolloutStore {
  /** `holder` returns this process once it has a lease. */
  constructor(
    private readonly db: Database,
    private readonly holder: () => HubProcessId | undefined = () => undefined,
  ) {}

  /** The devices that cannot use the image as far as it is known, by reason, most devices first. */
  async objections(imageId: string, devices: DeviceFilter): Promise<readonly IncompatibilityGroup[]> {
    const parameters: unknown[] = [imageId];
    const condition = deviceCondition(await groundFilter(this.db, devices), parameters);
    return this.db.query<IncompatibilityGroup>(
      {
        text: `SELECT message, count(*)::int AS "deviceCount" FROM (
           SELECT ${incompatibilityMessage('o.incompatibility')} AS message
           FROM device d JOIN firmware_image i ON i.id = $1
           CROSS JOIN LATERAL (SELECT ${imageIncompatibility(false)} AS incompatibility) AS o
           WHERE o.incompatibility IS NOT NULL AND ${condition}) AS judged
         GROUP BY message ORDER BY count(*) DESC, message`,
      },
      parameters,
    );
  }

  /** Whether any roll-out is RUNNING. Fast, because booting devices wait for it. */
  async isAnyRunning(): Promise<boolean> {
    const [row] = await this.db.query<{ is_any: boolean }>(
      {
        name: 'rollout-any',
        text: `SELECT EXISTS (
          SELECT FROM job WHERE firmware_image_id IS NOT NULL AND state <> 'FINISHED' AND state = 'RUNNING') AS is_any`,
      },
      [],
    );
    return row?.is_any === true;
  }

  /** Size of the image of the job; undefined without an image. */
  async imageBytes(jobId: JobId): Promise<number | undefined> {
    const [row] = await this.db.query<{ size_bytes: number }>(
      { text: 'SELECT i.size_bytes FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id WHERE j.id = $1' },
      [jobId],
    );
    return row?.size_bytes;
  }

  /** Number of downloads that may start for the job now. */
  room(jobId: JobId, at: number, limits: RolloutLimits): Promise<number> {
    return readRoom(this.db, jobId, at, limits);
  }

  /**
   * Grants a download to each of these claimed targets, in one commit, as far as there is room.
   * Targets that are missing in the result are not wanted any more.
   */
  grant(
    { jobId, fence }: JobFence,
    deviceIds: readonly DeviceId[],
    at: number,
    limits: RolloutLimits,
  ): Promise<ReadonlyMap<DeviceId, RolloutGrant>> {
    const expiresAt = at + limits.grantMs;
    return this.db.transaction(async (transaction) => {
      await lockDownloads(transaction);
      const room = await readRoom(transaction, jobId, at, limits);
      const times = [new Date(at), new Date(expiresAt), new Date(at - limits.loopWindowMs)];
      const rows = await transaction.query<GrantRecord>(GRANT, [
        ...[jobId, fence, deviceIds, ...times, limits.loopDownloads, room],
      ]);
      return new Map(rows.map((row) => [row.device_id, grantOf(row, expiresAt, limits)]));
    });
  }

  /**
   * The oldest roll-out that waits for this device and can be offered to it as it reports itself.
   */
  async candidate(contact: OtaContact): Promise<RolloutCandidate | undefined> {
    const [row] = await this.db.query<{ job_id: JobId; version: string; size_bytes: number }>(
      FIND_CANDIDATE,
      reportedBy(contact),
    );
    return row && { jobId: row.job_id, version: row.version, sizeBytes: row.size_bytes };
  }

  /**
   * Offers the image to the device. Undefined without room, if another job has the device, or if
   * another request was faster. `isHeard` is called under the lock: is the device still waiting?
   */
  offer(
    jobId: JobId,
    contact: OtaContact,
    deadlines: VerificationDeadlines,
    limits: RolloutLimits,
    isHeard: () => boolean,
  ): Promise<GrantedDownload | undefined> {
    const { at } = contact;
    const expiresAt = at + limits.grantMs;
    const softDeadlineAt = at + (deadlines.softMs ?? deadlines.deadlineMs);
    return this.db.transaction(async (transaction) => {
      await lockClaims(transaction, true);
      await lockDownloads(transaction);
      if (!isHeard() || (await readRoom(transaction, jobId, at, limits)) === 0) return undefined;
      const [row] = await transaction.query<{ id: string }>(OFFER, [
        ...[...reportedBy(contact), jobId, new Date(at), new Date(at + deadlines.deadlineMs), new Date(softDeadlineAt)],
        ...[new Date(expiresAt), new Date(at - limits.loopWindowMs), limits.loopDownloads, this.holder() ?? null],
      ]);
      return row && { kind: 'granted', downloadId: row.id, expiresAt };
    });
  }

  /**
   * Devices that run the image of the job and had another version before, by board and that
   * version.
   */
  async revertGroups(jobId: JobId, scope?: JobScope): Promise<readonly RevertGroup[]> {
    const parameters: unknown[] = [jobId];
    const isInScope = (await targetScopeOf(this.db, scope))(parameters);
    const rows = await this.db.query<{
      readonly image_id: string | null;
      readonly model: string | null;
      readonly version: string;
      readonly count: number;
    }>(
      {
        text: `SELECT r.image_id, d.model, t.baseline_version AS version, count(*)::int AS count
         FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
         JOIN job_target t ON t.job_id = j.id JOIN device d ON d.id = t.device_id
         LEFT JOIN firmware_release r ON r.kind = i.kind AND r.model = d.model AND r.version = t.baseline_version
         WHERE j.id = $1 AND i.kind = 'FIRMWARE' AND ${IS_ON_NEW_VERSION} AND ${isInScope}
         GROUP BY 1, 2, 3 ORDER BY count(*) DESC, 3, 2`,
      },
      parameters,
    );
    return rows.map((row) => ({
      imageId: row.image_id ?? undefined,
      model: row.model ?? undefined,
      version: row.version,
      count: row.count,
    }));
  }
}

/**
 * $1 job, $2 fence, $3 devices, $4 time, $5 end of the grant, $6 start of the loop window, $7 limit
 * of the loop, $8 room.
 */
const GRANT = {
  name: 'rollout-grant',
  text: `WITH wanted AS MATERIALIZED (
     SELECT w.device_id, w.number, i.id AS image_id, ${imageIncompatibility(true)} AS incompatibility,
       ${wastedDownloads('w.device_id', '$6')} AS whole,
       d.model, d.chip, i.chip AS image_chip, i.version, d.gateway_id AS server_id
     FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id,
       unnest($3::text[]) WITH ORDINALITY AS w(device_id, number) JOIN device d ON d.id = w.device_id
     WHERE j.id = $1 AND j.fence = $2 AND j.state = 'RUNNING'
   ), chosen AS (
     SELECT device_id, image_id, server_id, row_number() OVER (ORDER BY number) AS place
     FROM wanted WHERE incompatibility IS NULL AND whole < $7
   ), added AS (
     INSERT INTO download (id, image_id, device_id, job_id, expires_at, server_id)
     SELECT uuid_v7($4), image_id, device_id, $1, $5, server_id FROM chosen WHERE place <= $8 RETURNING id, device_id
   )
   SELECT d.device_id, d.incompatibility, ${incompatibilityMessage('d.incompatibility')} AS message, d.whole,
     a.id AS download_id
   FROM wanted d JOIN firmware_image i ON i.id = d.image_id LEFT JOIN added a ON a.device_id = d.device_id`,
};

function grantOf(row: GrantRecord, expiresAt: number, { loopDownloads }: RolloutLimits): RolloutGrant {
  if (row.incompatibility !== null)
    return { kind: 'refused', error: { code: row.incompatibility, message: row.message ?? '' } };
  if (row.download_id !== null) return { kind: 'granted', downloadId: row.download_id, expiresAt };
  if (row.whole < loopDownloads) return { kind: 'full' };
  return {
    kind: 'refused',
    error: {
      code: 'DOWNLOADS_IN_VAIN',
      message: `The device has fetched the image ${row.whole} times and does not keep it.`,
    },
  };
}
