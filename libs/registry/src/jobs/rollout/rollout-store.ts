/** Roll-outs of firmware images: places for downloads, offers at OTA requests, and the way back. */
import type { VerificationDeadlines } from '@flotilla/jobs';
import type { CallError, CallErrorCode, DeviceId, HubProcessId, JobId, ToolSetHash } from '@flotilla/mcp';
import { targetScopeOf } from '../../access-scope/history-scope.js';
import type { Database } from '../../database/database.js';
import { sql, SqlFile, type RowOf } from '../../database/sql-file.js';
import type { DeviceFilter } from '../../device-filter.js';
import { deviceCondition } from '../../devices/device-condition.js';
import { wastedDownloads } from '../../firmware/wasted-downloads.js';
import { resolveFilter } from '../../groups/resolve-filter.js';
import type { OtaContact } from '../../provisioning/provisioning.js';
import type { JobFence } from '../job-fence.js';
import type { JobScope } from '../job-scope.js';
import { lockClaims } from '../queue/claim-lock.js';
import { lockDownloads, readRoom, type RolloutLimits } from './download-room.js';
import { imageIncompatibility, incompatibilityMessage } from './image-incompatibility.js';
import { IS_ON_NEW_VERSION } from './on-new-version.js';
import { END_CURRENT, FIND_CANDIDATE, OFFER, reportedBy } from './offer-statements.js';

interface GrantedDownload {
  readonly kind: 'granted';
  readonly downloadId: string;
  readonly expiresAt: number;
}

/** `full`: no room now, try later. `refused`: the target is decided without being sent. */
export type RolloutGrant =
  GrantedDownload | { readonly kind: 'full' } | { readonly kind: 'refused'; readonly error: CallError };

/** A job with an image for a device. */
interface RolloutCandidate {
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

/** Devices of one board that run one version. */
export interface FormerVersionGroup {
  /** Undefined where the devices did not report it. */
  readonly model: string | undefined;
  readonly version: string | undefined;
  readonly count: number;
}

/** Devices with the same tools that cannot use an image, for one reason. */
interface IncompatibilityGroup {
  readonly message: string;
  /** Undefined if their tools are not known yet. */
  readonly toolSetHash: ToolSetHash | undefined;
  readonly deviceCount: number;
}

const { array, bigint, integer, orNull, text, timestamp, uuid } = sql;

const GRANT = new SqlFile(
  new URL('./grant-downloads.sql', import.meta.url),
  {
    name: 'rollout-grant',
    parameters: {
      jobId: uuid<JobId>(),
      fence: integer,
      deviceIds: array(text<DeviceId>()),
      at: timestamp,
      expiresAt: timestamp,
      loopSince: timestamp,
      loopDownloads: integer,
      room: bigint,
    },
    row: {
      device_id: text<DeviceId>(),
      incompatibility: orNull(text<CallErrorCode>()),
      message: orNull(text()),
      wasted: integer,
      download_id: orNull(uuid()),
    },
  },
  {
    incompatibility: imageIncompatibility(true),
    message: incompatibilityMessage('d.incompatibility'),
    wastedDownloads: wastedDownloads('w.device_id', '$6'),
  },
);

export class RolloutStore {
  /** `holder` returns this process once it has a lease. */
  constructor(
    private readonly db: Database,
    private readonly holder: () => HubProcessId | undefined = () => undefined,
  ) {}

  /**
   * The devices that cannot use the image as far as it is known, by reason and tools, most devices
   * first.
   */
  async incompatibilities(imageId: string, devices: DeviceFilter): Promise<readonly IncompatibilityGroup[]> {
    const parameters: unknown[] = [imageId];
    const condition = deviceCondition(await resolveFilter(this.db, devices), parameters);
    const rows = await this.db.query<{ message: string; hash: ToolSetHash | null; devices: number }>(
      {
        text: `SELECT message, hash, count(*)::int AS devices FROM (
           SELECT ${incompatibilityMessage('o.incompatibility')} AS message, d.tool_set_hash AS hash
           FROM device d JOIN firmware_image i ON i.id = $1
           CROSS JOIN LATERAL (SELECT ${imageIncompatibility(false)} AS incompatibility) AS o
           WHERE o.incompatibility IS NOT NULL AND ${condition}) AS judged
         GROUP BY message, hash ORDER BY count(*) DESC, message`,
      },
      parameters,
    );
    return rows.map(({ message, hash, devices }) => ({
      message,
      toolSetHash: hash ?? undefined,
      deviceCount: devices,
    }));
  }

  /**
   * The versions that devices would leave for the image and cannot go back to, because no published
   * image has them. Most devices first.
   */
  async formerImagesMissing(imageId: string, devices: DeviceFilter): Promise<readonly FormerVersionGroup[]> {
    const parameters: unknown[] = [imageId];
    const condition = deviceCondition(await resolveFilter(this.db, devices), parameters);
    const rows = await this.db.query<{ model: string | null; version: string | null; count: number }>(
      {
        text: `SELECT d.model, d.firmware_version AS version, count(*)::int AS count
         FROM device d JOIN firmware_image i ON i.id = $1
         CROSS JOIN LATERAL (SELECT ${imageIncompatibility(false)} AS incompatibility) AS o
         WHERE i.kind = 'FIRMWARE' AND o.incompatibility IS NULL AND ${condition} AND NOT EXISTS (
           SELECT FROM firmware_release r JOIN firmware_image f ON f.id = r.image_id
           WHERE r.kind = i.kind AND r.model = d.model AND r.version = d.firmware_version AND f.withdrawn_at IS NULL)
         GROUP BY 1, 2 ORDER BY count(*) DESC, 1, 2`,
      },
      parameters,
    );
    return rows.map(({ model, version, count }) => ({
      model: model ?? undefined,
      version: version ?? undefined,
      count,
    }));
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
      const rows = await GRANT.run(transaction, {
        jobId,
        fence,
        deviceIds,
        room,
        loopDownloads: limits.loopDownloads,
        at: new Date(at),
        expiresAt: new Date(expiresAt),
        loopSince: new Date(at - limits.loopWindowMs),
      });
      return new Map(rows.map((row) => [row.device_id, grantOf(row, expiresAt, limits)]));
    });
  }

  /**
   * The oldest roll-out that waits for this device and can be offered to it as it reports itself.
   */
  async candidate(contact: OtaContact, limits: RolloutLimits): Promise<RolloutCandidate | undefined> {
    const { loopDownloads, loopWindowMs } = limits;
    const loop = { loopSince: new Date(contact.at - loopWindowMs), loopDownloads };
    const [row] = await FIND_CANDIDATE.run(this.db, { ...reportedBy(contact), ...loop });
    return row && { jobId: row.job_id, version: row.version, sizeBytes: row.size_bytes };
  }

  /** Decides targets whose version the device reports, without a send. Resolves to their jobs. */
  async endCurrent(contact: OtaContact): Promise<readonly JobId[]> {
    const rows = await END_CURRENT.run(this.db, { ...reportedBy(contact), at: new Date(contact.at) });
    return rows.map((row) => row.job_id);
  }

  /**
   * Offers the image to the device. Undefined without room, if another job has the device, or if
   * another request was faster. `begin` is called under the lock; false if no answer is awaited.
   */
  offer(
    jobId: JobId,
    contact: OtaContact,
    deadlines: VerificationDeadlines,
    limits: RolloutLimits,
    begin: () => boolean,
  ): Promise<GrantedDownload | undefined> {
    const { at } = contact;
    const expiresAt = at + limits.grantMs;
    const softDeadlineAt = at + (deadlines.softMs ?? deadlines.deadlineMs);
    return this.db.transaction(async (transaction) => {
      await lockClaims(transaction, true);
      await lockDownloads(transaction);
      if (!begin() || (await readRoom(transaction, jobId, at, limits)) === 0) return undefined;
      const [row] = await OFFER.run(transaction, {
        ...reportedBy(contact),
        jobId,
        at: new Date(at),
        expiresAt: new Date(expiresAt),
        serverId: this.holder() ?? null,
        deadlineAt: new Date(at + deadlines.deadlineMs),
        softDeadlineAt: new Date(softDeadlineAt),
        loopSince: new Date(at - limits.loopWindowMs),
        loopDownloads: limits.loopDownloads,
      });
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

function grantOf(row: RowOf<typeof GRANT>, expiresAt: number, { loopDownloads }: RolloutLimits): RolloutGrant {
  if (row.incompatibility !== null)
    return { kind: 'refused', error: { code: row.incompatibility, message: row.message ?? '' } };
  if (row.download_id !== null) return { kind: 'granted', downloadId: row.download_id, expiresAt };
  if (row.wasted < loopDownloads) return { kind: 'full' };
  return {
    kind: 'refused',
    error: {
      code: 'DOWNLOADS_IN_VAIN',
      message: `The device has fetched the image ${row.wasted} times and does not keep it.`,
    },
  };
}
