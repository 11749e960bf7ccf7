/**
 * Reads the public keys of the signatures of secure boot 2 after an image. A device that checks
 * signatures accepts an image with one of the keys that it knows.
 */
import { SECTOR_BYTES, SIGNATURE_V1_BYTES, SIGNATURE_V2_MAGIC } from './image-tail.js';

/** Up to three blocks of this size are in the sector of signatures. */
const BLOCK_BYTES = 1216;
const BLOCKS_MAX = 3;
/** After four bytes and the digest of the image. */
const KEY_AT = 36;
/** Third byte of a block of P-384: the digest is that of SHA-384, and 16 bytes longer. */
const SHA_384 = 1;
const KEY_AFTER_SHA_384_AT = 52;
const RSA = 2;
const ECDSA = 3;
/** Modulus, exponent and two values that follow from them. */
const RSA_KEY_BYTES = 776;
/** The number of the curve and a point, padded for the shortest curve. */
const ECDSA_KEY_BYTES = 65;
const P384_KEY_BYTES = 97;

/**
 * The key of each signature, as the device hashes it for its eFuses; none without a signature.
 * Undefined: there is a signature that does not name its key. `tail` must be allowed.
 */
export function readSignatureKeys(tail: Uint8Array, imageBytes: number): readonly Uint8Array[] | undefined {
  const padding = (SECTOR_BYTES - (imageBytes % SECTOR_BYTES)) % SECTOR_BYTES;
  const sector = tail.subarray(padding);
  if (sector[0] !== SIGNATURE_V2_MAGIC) return tail.length === SIGNATURE_V1_BYTES ? undefined : [];
  const blocks = Array.from({ length: BLOCKS_MAX }, (_, index) =>
    sector.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES),
  );
  const keys = blocks.flatMap((block) => keyOf(block) ?? []);
  return keys.length === 0 ? undefined : keys;
}

function keyOf(block: Uint8Array): Uint8Array | undefined {
  if (block[0] !== SIGNATURE_V2_MAGIC) return undefined;
  if (block[1] === RSA) return block.slice(KEY_AT, KEY_AT + RSA_KEY_BYTES);
  if (block[1] !== ECDSA) return undefined;
  return block[2] === SHA_384
    ? block.slice(KEY_AFTER_SHA_384_AT, KEY_AFTER_SHA_384_AT + P384_KEY_BYTES)
    : block.slice(KEY_AT, KEY_AT + ECDSA_KEY_BYTES);
}
