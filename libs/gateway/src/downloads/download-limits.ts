/** Bounds of downloads in this process, with unit and reason. */
export interface DownloadLimits {
  /** Downloads that run at once: 50 boards on Wi-Fi fill 100 Mbit/s. */
  readonly downloadsMax: number;
  /** A device that takes no byte for so long has gone, ms; writing a flash block takes it a few hundred at most. */
  readonly stallTimeoutMs: number;
  /** How often progress is written while bytes go out, ms. */
  readonly progressEveryMs: number;
  /** How long PostgreSQL may keep a device waiting, ms; it gives up after 30 s. [xiaozhi §6] */
  readonly lookUpTimeoutMs: number;
}

export const defaultDownloadLimits: DownloadLimits = {
  downloadsMax: 50,
  stallTimeoutMs: 60_000,
  progressEveryMs: 2_000,
  lookUpTimeoutMs: 5_000,
};
