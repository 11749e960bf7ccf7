/**
 * Why a device cannot use an image, as SQL over `d(model, chip, ota_partitions, firmware_version)`
 * and the image `i`, which is NULL for a job without one. The boards of an image are those of its
 * releases. Unknown properties of a device do not count while the device can still report them.
 */

/** `isLastLook`: what is unknown now stays unknown until the image is sent. */
export function imageIncompatibility(isLastLook: boolean): string {
  return `CASE WHEN i.id IS NULL THEN NULL
    WHEN i.withdrawn_at IS NOT NULL THEN 'IMAGE_WITHDRAWN'
    ${isLastLook ? `WHEN d.model IS NULL THEN 'WRONG_BOARD'` : ''}
    WHEN d.model IS NOT NULL
      AND NOT EXISTS (SELECT FROM firmware_release r WHERE r.image_id = i.id AND r.model = d.model) THEN 'WRONG_BOARD'
    WHEN i.kind = 'FIRMWARE' AND d.chip <> i.chip THEN 'WRONG_CHIP'
    WHEN i.kind = 'FIRMWARE' AND d.ota_partitions = 0 THEN 'NO_OTA_PARTITION'
    WHEN i.kind = 'FIRMWARE' AND d.firmware_version = i.version THEN 'ALREADY_CURRENT' END`;
}

/** The message for people, over the same tables and the column `code`. */
export function incompatibilityMessage(code: string): string {
  return `CASE ${code}
    WHEN 'IMAGE_WITHDRAWN' THEN 'The image was withdrawn.'
    WHEN 'WRONG_BOARD' THEN 'The image is not published for '
      || coalesce('the board ' || d.model, 'devices that did not tell their board') || '.'
    WHEN 'WRONG_CHIP' THEN 'The image is for ' || i.chip || '; the board ' || d.model || ' has ' || d.chip || '.'
    WHEN 'NO_OTA_PARTITION' THEN 'The flash of the board ' || coalesce(d.model, '')
      || ' has no second place for a firmware: it is upgraded by cable only.'
    WHEN 'ALREADY_CURRENT' THEN 'The device runs ' || i.version || ' already.' END`;
}
