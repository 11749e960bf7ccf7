/**
 * The key of the audit chain. It is not in the database, so that write access to the database is
 * not enough to make valid entries. [docs/operations.md, "Audit trail"]
 */
import { createHmac } from 'node:crypto';

export interface AuditKey {
  /** Names the key in entries, and discloses nothing about it. */
  readonly id: string;
  /** Lower-case hex HMAC-SHA256. */
  hashOf(content: string): string;
}

/** Hex digits of a key's id. */
const ID_LENGTH = 16;

export function auditKeyOf(secret: string | Uint8Array): AuditKey {
  const hashOf = (content: string) => createHmac('sha256', secret).update(content).digest('hex');
  return { id: hashOf('flotilla audit key').slice(0, ID_LENGTH), hashOf };
}
