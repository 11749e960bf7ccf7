/** A fingerprint of a request, so that an idempotency key used for another one is noticed. The order of members does not matter. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@flotilla/mcp';

export function requestHash(request: unknown): string {
  return createHash('sha256').update(canonicalJson(request)).digest('hex');
}
