/** Limits of downloads in this process, with unit and reason. */
export interface DownloadLimits {
  /** Simultaneous downloads: 50 boards on Wi-Fi fill 100 Mbit/s. */
  readonly downloadsMax: number;
  /** A device that reads nothing for this long is gone, ms; a flash block takes a few hundred. */
  readonly stallTimeoutMs: number;
  /** How often progress is recorded while bytes are sent, ms. */
  readonly progressEveryMs: number;
  /** How long PostgreSQL may delay a device, ms; it times out after 30 s. [xiaozhi §6] */
  readonly lookUpTimeoutMs: number;
}

export const defaultDownloadLimits: DownloadLimits = {
  downloadsMax: 50,
  stallTimeoutMs: 60_000,
  progressEveryMs: 2_000,
  lookUpTimeoutMs: 5_000,
};
