/** Random secrets of the hub, and their hashes. Stores nothing. */
import { hash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Dialect } from '../device-filter.js';

/** 256 bits: with that many, one round of SHA-256 is as good as a slow hash. */
const SECRET_BYTES = 32;
const CODE_DIGITS = 6;

/** A password, token, challenge or, behind its prefix, an API key: 43 characters of base64url. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Six digits, also with leading zeros: they are spoken one by one. */
export function newCode(): string {
  return String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
}

/**
 * A client id in the form of xiaozhi servers, which other programs can read; its last part is
 * random. [xiaozhi §2.8, mcpu §6.1]
 */
export function newMqttClientId(deviceId: string, dialect: Dialect): string {
  const group = dialect === 'MCPU' ? 'mcpu' : 'GID_flotilla';
  return `${group}@@@${deviceId.replaceAll(':', '_')}@@@${randomUUID()}`;
}

/**
 * Lower-case hex SHA-256. In one call, which keeps no object for the collector: each request of the
 * API has one made of its key.
 */
export function hashOf(secret: string | Uint8Array): string {
  return hash('sha256', secret, 'hex');
}

/** Takes the same time wherever the hashes differ. */
export function isEqualHash(one: string, other: string): boolean {
  const bytes = Buffer.from(one);
  const others = Buffer.from(other);
  return bytes.length === others.length && timingSafeEqual(bytes, others);
}
