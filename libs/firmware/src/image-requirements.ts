/** Reads from the header of an image which chips and flash it was built for. */

export interface ImageRequirements {
  /** The oldest revision of the chip that boots it, in hundreds: 102 is v1.2. */
  readonly minChipRevision: number;
  /** The newest; undefined: any. */
  readonly maxChipRevision: number | undefined;
  /** How the flash is read: `qio`, `qout`, `dio`, `dout`; undefined for numbers without a name. */
  readonly flashMode: string | undefined;
}

/** Offsets in the header of ESP-IDF; revisions since 4.4, zero before. */
const FLASH_MODE_AT = 2;
const MIN_REVISION_AT = 15;
const MAX_REVISION_AT = 17;
const ANY_REVISION = 0xffff;
const flashModes = ['qio', 'qout', 'dio', 'dout'] as const;

export function readRequirements(header: DataView): ImageRequirements {
  const max = header.getUint16(MAX_REVISION_AT, true);
  return {
    minChipRevision: header.getUint16(MIN_REVISION_AT, true),
    maxChipRevision: max === 0 || max === ANY_REVISION ? undefined : max,
    flashMode: flashModes[header.getUint8(FLASH_MODE_AT)],
  };
}
