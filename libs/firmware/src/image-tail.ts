/**
 * What may follow an image in its file: padding and the signature of secure boot. Devices validate
 * only the image, so other data would be harmless at first, but it shows that the file was
 * assembled incorrectly.
 */

/** Bytes: padding up to a flash sector, and a sector of signature. */
export const TAIL_BYTES_MAX = 8192;

export const SECTOR_BYTES = 4096;
/** Secure boot 1: a version word of 0 and an ECDSA signature. */
export const SIGNATURE_V1_BYTES = 68;
/** First byte of each signature block of secure boot 2. */
export const SIGNATURE_V2_MAGIC = 0xe7;

/** `tail` begins at `imageBytes` and has at most TAIL_BYTES_MAX bytes. */
export function isTailAllowed(tail: Uint8Array, imageBytes: number): boolean {
  if (isPadding(tail)) return true;
  if (tail.length === SIGNATURE_V1_BYTES && isPadding(tail.subarray(0, 4))) return true;
  const padding = (SECTOR_BYTES - (imageBytes % SECTOR_BYTES)) % SECTOR_BYTES;
  return (
    isPadding(tail.subarray(0, padding)) &&
    tail[padding] === SIGNATURE_V2_MAGIC &&
    tail.length === padding + SECTOR_BYTES
  );
}

function isPadding(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0xff) || bytes.every((byte) => byte === 0);
}
