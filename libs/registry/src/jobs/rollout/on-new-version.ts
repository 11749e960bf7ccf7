/** Whom a roll-out has brought to its image: what reverting and its filter ask alike. */

/** Targets `t` of the job `j` whose device `d` runs its image `i` and ran another version before, however the target was judged. */
export const IS_ON_NEW_VERSION = `t.baseline_version IS NOT NULL AND t.baseline_version <> i.version AND d.firmware_version = i.version`;
