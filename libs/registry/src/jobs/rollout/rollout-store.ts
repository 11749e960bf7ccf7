/** Roll-outs in PostgreSQL: the statements stand in the files beside it. */
import type { HubProcessId, JobId } from '@flotilla/mcp';
import type { Database } from '../../database/database.js';
import type { DeviceFilter } from '../../device-filter.js';
import type { JobSight } from '../job-types.js';
import type { OtaContact } from '../../provisioning/provisioning.js';
import type { RolloutCandidate, RolloutLimits, RolloutStore } from './rollout-types.js';
import { grantDownloads, readRoom } from './rollout-downloads.js';
import { findCandidate, isAnyRolloutRunning, offerUpdate } from './rollout-offers.js';
import { countObjections } from './rollout-preview.js';
import { readRevertGroups } from './rollout-revert.js';

export class PgRolloutStore implements RolloutStore {
  /** `holder` is this process, once it has a lease. */
  constructor(
    private readonly db: Database,
    private readonly holder: () => HubProcessId | undefined = () => undefined,
  ) {}

  isAnyRunning(): Promise<boolean> {
    return isAnyRolloutRunning(this.db);
  }

  async imageBytes(jobId: JobId): Promise<number | undefined> {
    const [row] = await this.db.query<{ size_bytes: number }>(
      { text: 'SELECT i.size_bytes FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id WHERE j.id = $1' },
      [jobId],
    );
    return row?.size_bytes;
  }

  room(jobId: JobId, at: number, limits: RolloutLimits): Promise<number> {
    return readRoom(this.db, jobId, at, limits);
  }

  grant(...[fence, deviceIds, at, limits]: Parameters<RolloutStore['grant']>): ReturnType<RolloutStore['grant']> {
    return grantDownloads(this.db, fence, deviceIds, at, limits);
  }

  candidate(contact: OtaContact): Promise<RolloutCandidate | undefined> {
    return findCandidate(this.db, contact);
  }

  offer(
    ...[jobId, contact, deadlines, limits, isHeard]: Parameters<RolloutStore['offer']>
  ): ReturnType<RolloutStore['offer']> {
    return offerUpdate(this.db, jobId, contact, { deadlines, limits, isHeard, serverId: this.holder() });
  }

  objections(imageId: string, devices: DeviceFilter): ReturnType<RolloutStore['objections']> {
    return countObjections(this.db, imageId, devices);
  }

  revertGroups(jobId: JobId, sight?: JobSight): ReturnType<RolloutStore['revertGroups']> {
    return readRevertGroups(this.db, jobId, sight);
  }
}
