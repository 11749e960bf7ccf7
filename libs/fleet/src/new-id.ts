/** Ids of calls and jobs: UUIDv7, because tables are partitioned and lists ordered by the time in them. [RFC 9562 §5.7] */
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const bytesPerId = 16;

/** Random bytes for many ids at once: fetched for each id alone they cost eight times what the rest of it does, a twentieth of a whole call. */
const random = new Uint8Array(256 * bytesPerId);
let used = random.length;

/** `at` in ms since the Unix epoch. */
export function newId(at: number): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += bytesPerId;
  return v7({ msecs: at, random: random.subarray(used - bytesPerId, used) });
}
