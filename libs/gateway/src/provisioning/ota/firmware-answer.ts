/**
 * The `firmware` object of an OTA answer. Its version must be one that devices can parse
 * (libs/firmware, version-text.ts).
 */
import { isParsableVersion, parsableVersion } from '@flotilla/firmware';

/** Without a `url` the device compares nothing. */
export interface FirmwareAnswer {
  readonly version: string;
  readonly url?: string;
  /** Installs regardless of versions, at every boot. A number, not a boolean. [xiaozhi §7.5] */
  readonly force?: 1;
}

/**
 * The answer without an update: the device's version and an empty url. There is no url if the
 * device could not parse its own version, which it compares with ours.
 */
export function noUpdate(ownVersion: string | undefined): FirmwareAnswer {
  if (ownVersion !== undefined && isParsableVersion(ownVersion)) return { version: ownVersion, url: '' };
  return { version: parsableVersion(ownVersion ?? '') };
}
