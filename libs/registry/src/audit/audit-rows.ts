/** Rows of the audit trail, as they are read. */
import type { AuditEntryRow } from '../audit-store.js';

export const AUDIT_COLUMNS =
  'id, sequence::text AS sequence, at, actor, action, subject, data, remote_address, hash, key_id';

export interface AuditRecord {
  readonly id: string;
  readonly sequence: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly remote_address: string | null;
  readonly hash: string;
  readonly key_id: string | null;
}

export function toAuditEntry(record: AuditRecord): AuditEntryRow {
  const { id, actor, action, subject, data, hash } = record;
  return {
    ...{ id, actor, action, subject, data, hash },
    sequence: Number(record.sequence),
    at: record.at.getTime(),
    remoteAddress: record.remote_address ?? undefined,
    keyId: record.key_id ?? undefined,
  };
}
