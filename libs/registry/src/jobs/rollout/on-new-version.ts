/** Devices that a roll-out brought to its image, as SQL. Reverting and its filter share it. */

/**
 * Whether the device `d` of target `t` runs the image `i` of the job and ran another version
 * before, with any outcome.
 */
export const IS_ON_NEW_VERSION = `t.baseline_version IS NOT NULL AND t.baseline_version <> i.version
  AND d.firmware_version = i.version`;
