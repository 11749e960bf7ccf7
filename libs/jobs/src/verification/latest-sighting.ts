/**
 * The newest sign of a device after its call: a session that it greeted on, or the OTA request of a
 * boot.
 */
import type { VerificationEvidence } from './verification-evidence.js';

export interface Sighting {
  readonly version: string | undefined;
  /** Receive time at the hub; undefined where it is not on record. */
  readonly at: number | undefined;
}

type Shown = Pick<
  VerificationEvidence,
  'sentEpoch' | 'epoch' | 'isOnline' | 'connectedAt' | 'version' | 'bootedAt' | 'bootVersion'
>;

/** Undefined where nothing was seen of the device since the send. */
export function latestSighting(shown: Shown): Sighting | undefined {
  const { sentEpoch, epoch, isOnline, connectedAt, version, bootedAt, bootVersion } = shown;
  const boot: Sighting | undefined = bootedAt === undefined ? undefined : { at: bootedAt, version: bootVersion };
  const hasReturned = epoch !== undefined && epoch > sentEpoch && isOnline;
  if (!hasReturned) return boot;
  if (boot === undefined) return { at: connectedAt, version };
  const isSessionNewer = connectedAt !== undefined && bootedAt !== undefined && connectedAt >= bootedAt;
  return isSessionNewer ? { at: connectedAt, version: version ?? bootVersion } : boot;
}

/**
 * The version that the device certainly runs: the newest reported, or that of the session it kept.
 */
export function confirmedVersion(shown: Shown): string | undefined {
  return latestSighting(shown)?.version ?? (shown.isOnline && shown.bootedAt === undefined ? shown.version : undefined);
}
