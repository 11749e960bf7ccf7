/**
 * Data of an audit entry without secrets and with a bounded size: many people may read the trail.
 */
import { createHash } from 'node:crypto';
import { isSecretMember, MASK } from '@flotilla/mcp';
import { maskedAddresses } from './masked-url.js';

/** JSON of the data of one entry, bytes: the arguments and filter of a job fit. */
const DATA_BYTES_MAX = 8 * 1024;

export function maskedData(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  // Through JSON once, so that the stored data equals the hashed data and has no undefined members.
  const masked = JSON.parse(JSON.stringify(data, maskMember)) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(masked).map(([name, value]) => [name, bounded(value, DATA_BYTES_MAX / 2)]));
}

function maskMember(name: string, value: unknown): unknown {
  if (isSecretMember(name, value)) return MASK;
  return typeof value === 'string' ? maskedAddresses(value) : value;
}

/** Replaces a long value by its size and hash, which are enough to prove later what it was. */
function bounded(value: unknown, bytesMax: number): unknown {
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  return bytes <= bytesMax ? value : { bytes, sha256: createHash('sha256').update(json).digest('hex') };
}
