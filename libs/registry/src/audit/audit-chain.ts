/**
 * The chain: the hash of an entry covers its whole content and the hash before it, so that a change, a removal or an insertion needs all later hashes
 * computed again. That takes the key of the chain. Entries from before the chain was keyed have a plain hash. [docs/operations.md, "Audit trail"]
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@flotilla/mcp';
import type { AuditEntryRow } from '../audit-store.js';
import type { AuditKey } from './audit-key.js';

/** What the first entry's hash covers in place of a hash before it. */
export const GENESIS_HASH = '0'.repeat(64);

export function hashOfEntry(
  previousHash: string,
  entry: Omit<AuditEntryRow, 'hash' | 'keyId'>,
  key: AuditKey | undefined,
): string {
  const { sequence, id, at, actor, action, subject, data, remoteAddress } = entry;
  const content = [previousHash, sequence, id, at, actor, action, subject, data, remoteAddress ?? null];
  // PostgreSQL keeps the members of an object in an order of its own.
  const json = canonicalJson(content);
  return key === undefined ? createHash('sha256').update(json).digest('hex') : key.hashOf(json);
}
