/**
 * The hash of an entry covers its content and the hash before it. A change, removal or insertion
 * needs all later hashes again, and with them the key of the chain. Entries from before the chain
 * had a key have a plain hash. [docs/operations.md, "Audit trail"]
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@flotilla/mcp';
import type { AuditEntryRow } from './audit-entry.js';
import type { AuditKey } from './audit-key.js';

/** Covered by the hash of the first entry in place of a hash before it. */
export const GENESIS_HASH = '0'.repeat(64);

export function hashOfEntry(
  previousHash: string,
  entry: Omit<AuditEntryRow, 'hash' | 'keyId'>,
  key: AuditKey | undefined,
): string {
  const { sequence, id, at, actor, action, subject, data, remoteAddress } = entry;
  const content = [previousHash, sequence, id, at, actor, action, subject, data, remoteAddress ?? null];
  // PostgreSQL stores the members of an object in another order.
  const json = canonicalJson(content);
  return key === undefined ? createHash('sha256').update(json).digest('hex') : key.hashOf(json);
}
