/**
 * A fingerprint of a request, to detect an idempotency key that is used for another one. The order
 * of members does not matter.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@flotilla/mcp';

export function requestHash(request: unknown): string {
  return createHash('sha256').update(canonicalJson(request)).digest('hex');
}
