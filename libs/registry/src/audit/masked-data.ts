/** Data of an audit entry as it may be kept: without secrets, and bounded. The trail is read by more people than the devices' secrets are for. */
import { createHash } from 'node:crypto';
import { isSecretMember, MASK } from '@flotilla/mcp';
import { maskedAddresses } from './masked-url.js';

/** JSON of one entry's data, bytes: a job's arguments and filter fit; what is larger is told by its hash. */
const DATA_BYTES_MAX = 8 * 1024;

export function maskedData(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  // Through JSON once: what is kept is what was hashed, and members that are undefined are not there.
  const masked = JSON.parse(JSON.stringify(data, maskMember)) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(masked).map(([name, value]) => [name, bounded(value, DATA_BYTES_MAX / 2)]));
}

function maskMember(name: string, value: unknown): unknown {
  if (isSecretMember(name, value)) return MASK;
  return typeof value === 'string' ? maskedAddresses(value) : value;
}

/** A value that is too long for the trail is told by its size and hash: enough to prove later what it was. */
function bounded(value: unknown, bytesMax: number): unknown {
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  return bytes <= bytesMax ? value : { bytes, sha256: createHash('sha256').update(json).digest('hex') };
}
