/**
 * The firmware's pauses before it tries something, ms. A simulator may shorten them; nothing else
 * speeds up.
 */

export interface Pauses {
  /** From one attempt of esp-mqtt to connect to the next. [xiaozhi §2.3] */
  readonly reconnectMs: number;
  /** From the loss of an established MQTT connection to the next attempt. [xiaozhi §2.3] */
  readonly rebuildMs: number;
  /** From a restart to the OTA request, or to the connection without an OTA address. */
  readonly bootMs: number;
  /** From the call that upgrades to the request for the image. [xiaozhi §7.6] */
  readonly beforeDownloadMs: number;
  /** From a failed download to the late reply. */
  readonly afterFailureMs: number;
  /** After the first failed OTA request; doubled after each further one. [xiaozhi §7.3] */
  readonly otaRetryMs: number;
  /** Between two activation requests. [xiaozhi §7.4] */
  readonly activationMs: number;
  /** The same after an answer that is neither yes nor no. */
  readonly activationErrorMs: number;
}

export const firmwarePauses: Pauses = {
  reconnectMs: 10_000,
  rebuildMs: 60_000,
  bootMs: 5_000,
  beforeDownloadMs: 4_000,
  afterFailureMs: 3_000,
  otaRetryMs: 10_000,
  activationMs: 3_000,
  activationErrorMs: 10_000,
};

/** The firmware's pauses, each divided by `speed`. */
export function pausesAt(speed: number): Pauses {
  const {
    reconnectMs,
    rebuildMs,
    bootMs,
    beforeDownloadMs,
    afterFailureMs,
    otaRetryMs,
    activationMs,
    activationErrorMs,
  } = firmwarePauses;
  return {
    reconnectMs: reconnectMs / speed,
    rebuildMs: rebuildMs / speed,
    bootMs: bootMs / speed,
    beforeDownloadMs: beforeDownloadMs / speed,
    afterFailureMs: afterFailureMs / speed,
    otaRetryMs: otaRetryMs / speed,
    activationMs: activationMs / speed,
    activationErrorMs: activationErrorMs / speed,
  };
}
