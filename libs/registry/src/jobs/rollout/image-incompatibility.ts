/**
 * Why a device cannot use an image, as SQL over `d(model, chip, ota_partitions, board_facts,
 * elf_sha256, firmware_version)` and the image `i`, which is NULL for a job without one. The boards
 * of an image are those of its releases. What a device has not reported does not count.
 */

/** Revisions are stored in hundreds. */
const revision = (number: string) => `'v' || (${number}) / 100 || '.' || (${number}) % 100`;

const SLOT_BYTES = `(d.board_facts->>'slotBytes')::bigint`;
const CHIP_REVISION = `(d.board_facts->>'chipRevision')::int`;
/** Of the image that the device runs, if it was uploaded. */
const RUNNING_SECURE_VERSION = `(SELECT max(r.secure_version) FROM firmware_image r
  WHERE r.elf_sha256 = d.elf_sha256)`;

/**
 * Whether all uploads of the running build are signed, and none with a key of this image. Builds of
 * one source can have several signatures, and then it is unknown which of them the device runs.
 */
const IS_OF_OTHER_KEYS = `coalesce((SELECT bool_and(
    coalesce(r.secure_boot_keys <> '{}' AND NOT r.secure_boot_keys && i.secure_boot_keys, false))
  FROM firmware_image r WHERE r.elf_sha256 = d.elf_sha256), false)`;

/** Conditions of IMAGE_DOES_NOT_FIT, each with its message. [xiaozhi §7.2] */
const misfits: readonly { readonly condition: string; readonly message: string }[] = [
  {
    condition: `i.size_bytes > ${SLOT_BYTES}`,
    message: `'The image has ' || i.size_bytes || ' bytes, and the partition for it on the board '
      || coalesce(d.model, '') || ' has ' || ${SLOT_BYTES} || '. Build a smaller image.'`,
  },
  {
    // Since 2.0 xiaozhi reads fonts, sounds and wake words from a separate partition.
    condition: `i.project = 'xiaozhi' AND substring(i.version FROM '^[0-9]{1,9}')::int >= 2
      AND (d.board_facts->>'hasAssets')::boolean IS FALSE`,
    message: `'The flash of the board ' || coalesce(d.model, '')
      || ' has the layout of xiaozhi 1, without a partition for assets. Flash version ' || i.version || ' by cable.'`,
  },
  {
    condition: `${CHIP_REVISION} < i.min_chip_revision OR ${CHIP_REVISION} > i.max_chip_revision`,
    message: `'The image does not start on revision ' || ${revision(CHIP_REVISION)} || ' of the chip, which the board '
      || coalesce(d.model, '') || ' has. Build it for this revision.'`,
  },
  {
    condition: `i.secure_version < ${RUNNING_SECURE_VERSION}`,
    message: `'The image has the secure version ' || i.secure_version || ', and the device runs '
      || ${RUNNING_SECURE_VERSION} || ': it does not go back. Build the image with a higher one.'`,
  },
  {
    condition: IS_OF_OTHER_KEYS,
    message: `'The device runs a build that is signed for secure boot, and the image '
      || CASE i.secure_boot_keys WHEN '{}' THEN 'is not signed' ELSE 'is signed with another key' END
      || ': it does not start. Sign the image with the key of the running build, too.'`,
  },
];

/** `isLastLook`: what is unknown now stays unknown until the image is sent. */
export function imageIncompatibility(isLastLook: boolean): string {
  return `CASE WHEN i.id IS NULL THEN NULL
    WHEN i.withdrawn_at IS NOT NULL THEN 'IMAGE_WITHDRAWN'
    ${isLastLook ? `WHEN d.model IS NULL THEN 'WRONG_BOARD'` : ''}
    WHEN d.model IS NOT NULL
      AND NOT EXISTS (SELECT FROM firmware_release r WHERE r.image_id = i.id AND r.model = d.model) THEN 'WRONG_BOARD'
    WHEN i.kind <> 'FIRMWARE' THEN NULL
    WHEN d.chip <> i.chip THEN 'WRONG_CHIP'
    WHEN d.ota_partitions = 0 THEN 'NO_OTA_PARTITION'
    WHEN d.firmware_version = i.version THEN 'ALREADY_CURRENT'
    WHEN ${misfits.map(({ condition }) => `(${condition})`).join(' OR ')} THEN 'IMAGE_DOES_NOT_FIT' END`;
}

/** The message for people, over the same tables and the column `code`. */
export function incompatibilityMessage(code: string): string {
  const doesNotFit = misfits.map(({ condition, message }) => `WHEN ${condition} THEN ${message}`).join(' ');
  return `CASE ${code}
    WHEN 'IMAGE_WITHDRAWN' THEN 'The image was withdrawn.'
    WHEN 'WRONG_BOARD' THEN 'The image is not published for '
      || coalesce('the board ' || d.model, 'devices that did not report their board') || '.'
    WHEN 'WRONG_CHIP' THEN 'The image is for ' || i.chip || '; the board ' || d.model || ' has ' || d.chip || '.'
    WHEN 'NO_OTA_PARTITION' THEN 'The flash of the board ' || coalesce(d.model, '')
      || ' has no second place for a firmware: it is upgraded by cable only.'
    WHEN 'ALREADY_CURRENT' THEN 'The device runs ' || i.version || ' already.'
    WHEN 'IMAGE_DOES_NOT_FIT' THEN CASE ${doesNotFit} END END`;
}
