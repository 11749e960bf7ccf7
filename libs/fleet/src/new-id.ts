/** UUIDv7: the time at which it was made, then randomness. Calls, jobs and events are partitioned and ordered by it. [RFC 9562 §5.7] */
import { randomBytes } from 'node:crypto';

/** `at` in ms since the Unix epoch. */
export function newId(at: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(at, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
