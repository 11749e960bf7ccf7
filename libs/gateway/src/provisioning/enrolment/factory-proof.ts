/**
 * The proof of a chip with a factory serial at activation: an HMAC over the hub's challenge, made
 * with a key in its eFuse. It proves the chip, not the MAC. [xiaozhi §7.4]
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonObject } from '@flotilla/mcp';

export interface FactoryProof {
  readonly serial: string;
  /** 32 bytes. */
  readonly hmac: Uint8Array;
}

/** Undefined if the body has no proof: chips without the HMAC unit send an empty body. */
export function readFactoryProof(body: JsonObject): FactoryProof | undefined {
  const { algorithm, serial_number: serial, hmac } = body;
  if (algorithm !== 'hmac-sha256' || typeof serial !== 'string' || !/^[\x21-\x7e]{1,64}$/.test(serial))
    return undefined;
  return typeof hmac === 'string' && /^[0-9a-f]{64}$/.test(hmac)
    ? { serial, hmac: Buffer.from(hmac, 'hex') }
    : undefined;
}

/** `challenge` is the one that the hub issued to this device, not the one in the request. */
export function isProofRight(proof: FactoryProof, key: Uint8Array, challenge: string): boolean {
  return timingSafeEqual(createHmac('sha256', key).update(challenge).digest(), proof.hmac);
}
