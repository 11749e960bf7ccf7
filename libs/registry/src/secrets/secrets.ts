/** Random secrets of the hub, and their hashes. Stores nothing. */
import { hash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { DialectName } from '@flotilla/mcp';

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

/** `parseMqttClientId` of libs/mcp recognises a family by its group. */
const clientIdGroups: Readonly<Record<DialectName, string>> = { XIAOZHI: 'GID_flotilla', MCPU: 'mcpu' };

/**
 * A client id in the form of xiaozhi servers, which other programs can read; its last part is
 * random. [xiaozhi §2.8, mcpu §6.1]
 */
export function newMqttClientId(deviceId: string, dialect: DialectName): string {
  return `${clientIdGroups[dialect]}@@@${deviceId.replaceAll(':', '_')}@@@${randomUUID()}`;
}

/**
 * Returns SHA-256 in lower-case hex. The one-call form creates no hash object, because each API
 * request hashes its key.
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
