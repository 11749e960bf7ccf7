/**
 * How long a device may take until a verification is given up, and from when on it counts as lost.
 * All times are milliseconds.
 */
import type { Verification } from '../job-types.js';

export interface VerificationTimes {
  /** From the send to a new session of a device that restarts. */
  readonly rebootMs: number;
  /** From the send to the new version of a device that installs a firmware. */
  readonly firmwareMs: number;
  /** How long new firmware must run: a bad one may start once and be rolled back. */
  readonly soakMs: number;
  /**
   * After the expected end of its download, an absent device counts as lost, and a present one as
   * not started.
   */
  readonly overdueMs: number;
  /** How long the lease of a hub process outlives the process at most. */
  readonly leaseMs: number;
  /** After a time without a hub, in which nothing could be seen: what devices get to come back. */
  readonly rejoinMs: number;
  /** From the answer to the first look at the value: a brightness fades. [xiaozhi §5.1] */
  readonly readbackDelayMs: number;
  /** From the answer to the last look at the value. */
  readonly readbackMs: number;
}

/**
 * A device waits a minute between tries to connect, and tries only when idle: shorter times give
 * false failures. [jobs §12]
 */
export const verificationTimes: VerificationTimes = {
  rebootMs: 5 * 60_000,
  firmwareMs: 20 * 60_000,
  soakMs: 60_000,
  overdueMs: 90_000,
  leaseMs: 15_000,
  rejoinMs: 2 * 60_000,
  readbackDelayMs: 600,
  readbackMs: 5 * 60_000,
};

/** A roll-out to devices that sleep for days. */
export const verificationMsMax = 7 * 24 * 3_600_000;

/**
 * Bytes per second of a poor Wi-Fi, and the assumed size of an unknown image: together the expected
 * download time.
 */
const downloadBytesPerSecond = 32 * 1024;
const imageBytesAssumed = 4 * 1024 * 1024;

/** Offsets from the send, ms. No `softMs`: nothing is late before the deadline. */
export interface VerificationDeadlines {
  readonly deadlineMs: number;
  readonly softMs: number | undefined;
}

export function verificationDeadlines(
  kind: Verification,
  times: VerificationTimes,
  imageBytes = imageBytesAssumed,
): VerificationDeadlines {
  switch (kind) {
    case 'NONE':
      return { deadlineMs: 0, softMs: undefined };
    case 'READBACK':
      return { deadlineMs: times.readbackMs, softMs: undefined };
    case 'REBOOT':
      return { deadlineMs: times.rebootMs, softMs: undefined };
    case 'FIRMWARE': {
      const downloadMs = Math.ceil((imageBytes / downloadBytesPerSecond) * 1_000);
      return { deadlineMs: times.firmwareMs, softMs: Math.min(times.firmwareMs, downloadMs + times.overdueMs) };
    }
  }
}
