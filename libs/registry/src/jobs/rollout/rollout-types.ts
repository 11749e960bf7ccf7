/** What a roll-out of an image needs beside the statements of every job: places for downloads, offers at the OTA check, and the way back. */
import type { CallError, DeviceId, JobId } from '@flotilla/mcp';
import type { VerificationDeadlines } from '@flotilla/jobs';
import type { DeviceFilter } from '../../device-filter.js';
import type { JobSight } from '../job-types.js';
import type { JobFence } from '../job-types.js';
import type { OtaContact } from '../../provisioning/provisioning.js';

export interface RolloutLimits {
  /** Downloads of the whole hub that run or may begin at any moment. */
  readonly downloadsMax: number;
  /** How long a granted address is good, ms. */
  readonly grantMs: number;
  /** A download that took no byte for so long does not run any more, ms. */
  readonly stallMs: number;
  /** So many whole downloads of one image within `loopWindowMs` and still another version: the device cannot keep the image. */
  readonly loopDownloads: number;
  readonly loopWindowMs: number;
}

export interface GrantedDownload {
  readonly kind: 'granted';
  readonly downloadId: string;
  readonly expiresAt: number;
}

export type RolloutGrant =
  | GrantedDownload
  /** No place now; later there will be. */
  | { readonly kind: 'full' }
  /** Never: the device is decided without being sent to. */
  | { readonly kind: 'refused'; readonly error: CallError };

/** A job that has an image for a device. */
export interface RolloutCandidate {
  readonly jobId: JobId;
  readonly version: string;
  readonly sizeBytes: number;
}

/** Devices of a job that are to go back to one image. */
export interface RevertGroup {
  /** Undefined where no published image has this version for this board. */
  readonly imageId: string | undefined;
  readonly model: string | undefined;
  readonly version: string;
  readonly count: number;
}

/** Devices that an image is not for, for one reason. */
export interface ObjectionGroup {
  readonly message: string;
  readonly deviceCount: number;
}

export interface RolloutStore {
  /** Whom of these devices the image would not fit as far as it is known, most devices first. */
  objections(imageId: string, devices: DeviceFilter): Promise<readonly ObjectionGroup[]>;
  /** Whether any roll-out is RUNNING. Quick: devices that boot wait for it. */
  isAnyRunning(): Promise<boolean>;
  /** Bytes of the job's image; undefined where it has none. */
  imageBytes(jobId: JobId): Promise<number | undefined>;
  /** Places that are free for a job now. */
  room(jobId: JobId, at: number, limits: RolloutLimits): Promise<number>;
  /** A download for each of these claimed targets, in one commit, as far as there are places. A device that is missing in the answer is not wanted any more. */
  grant(
    fence: JobFence,
    deviceIds: readonly DeviceId[],
    at: number,
    limits: RolloutLimits,
  ): Promise<ReadonlyMap<DeviceId, RolloutGrant>>;
  /** The oldest roll-out that waits for this device and that it can be offered by what it says of itself. */
  candidate(contact: OtaContact): Promise<RolloutCandidate | undefined>;
  /**
   * Offering is a send: in one commit the target is VERIFYING with its epoch, deadlines and download. Undefined where the job does not run any more, its
   * pace or the places are used up, another disruptive job has the device, or somebody was faster. Devices that ask at once wait for each other: `isHeard` is
   * asked when it is this one's turn, and where nobody would hear the answer any more nothing is offered.
   */
  offer(
    jobId: JobId,
    contact: OtaContact,
    deadlines: VerificationDeadlines,
    limits: RolloutLimits,
    isHeard: () => boolean,
  ): Promise<GrantedDownload | undefined>;
  /** Devices that the job brought to its image and that had another version before, by board and that version; among those of `within` where it is given. */
  revertGroups(jobId: JobId, sight?: JobSight): Promise<readonly RevertGroup[]>;
}
