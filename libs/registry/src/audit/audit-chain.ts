/**
 * The chain: the hash of an entry covers its whole content and the hash before it, so that nobody changes, removes or inserts one without recomputing
 * all that follow. Keep the newest hash elsewhere, and even that shows. [docs/operations.md, "Audit trail"]
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@flotilla/mcp';
import type { AuditEntryRow } from '../audit-store.js';

/** What the first entry's hash covers in place of a hash before it. */
export const GENESIS_HASH = '0'.repeat(64);

export function hashOfEntry(previousHash: string, entry: Omit<AuditEntryRow, 'hash'>): string {
  const { sequence, id, at, actor, action, subject, data, remoteAddress } = entry;
  const content = [previousHash, sequence, id, at, actor, action, subject, data, remoteAddress ?? null];
  // PostgreSQL keeps the members of an object in an order of its own.
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
