/**
 * The chain: the hash of an entry covers its whole content and the hash before it, so that nobody changes, removes or inserts one without recomputing
 * all that follow. Keep the newest hash elsewhere, and even that shows. [docs/operations.md, "Audit trail"]
 */
import { createHash } from 'node:crypto';
import type { AuditEntryRow } from '../audit-store.js';

/** What the first entry's hash covers in place of a hash before it. */
export const GENESIS_HASH = '0'.repeat(64);

export function hashOfEntry(previousHash: string, entry: Omit<AuditEntryRow, 'hash'>): string {
  const { sequence, id, at, actor, action, subject, data, remoteAddress } = entry;
  const content = [previousHash, sequence, id, at, actor, action, subject, sorted(data), remoteAddress ?? null];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** PostgreSQL keeps the members of an object in an order of its own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
