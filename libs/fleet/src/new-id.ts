/**
 * Ids of calls and jobs: UUIDv7, because partitions and lists are ordered by their time. [RFC 9562
 * §5.7]
 */
import { randomBytesOfId } from '@flotilla/registry';
import { v7 } from 'uuid';

/** `at` in ms since the Unix epoch. */
export function newId(at: number): string {
  return v7({ msecs: at, random: randomBytesOfId() });
}
