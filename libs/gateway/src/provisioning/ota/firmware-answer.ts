/** The `firmware` object of an OTA answer. Its version must be one that devices survive (libs/firmware, version-text.ts). */
import { isParsableVersion, parsableVersion } from '@flotilla/firmware';

/** Without a `url` the device compares nothing. */
export interface FirmwareAnswer {
  readonly version: string;
  readonly url?: string;
  /** Installs whatever the versions are, at every boot for as long as it is told. The number, not a boolean. [xiaozhi §7.5] */
  readonly force?: 1;
}

/**
 * Nothing to install: the device's own version and an empty url. A version that the device could not parse is not compared at all, because it parses its own together
 * with ours: it gets no url.
 */
export function noUpdate(ownVersion: string | undefined): FirmwareAnswer {
  if (ownVersion !== undefined && isParsableVersion(ownVersion)) return { version: ownVersion, url: '' };
  return { version: parsableVersion(ownVersion ?? '') };
}
