/** Computes the chain of the audit trail anew, from its beginning or from where retention has cut it, on one snapshot of the database. */
import type { AuditEntryRow, AuditFault, AuditVerdict } from '../audit-store.js';
import { Database } from '../database/database.js';
import type { Queryable } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { auditKeyOf, type AuditKey } from './audit-key.js';
import { AUDIT_COLUMNS, toAuditEntry } from './audit-rows.js';
import type { AuditRecord } from './audit-rows.js';
import { GENESIS_HASH, hashOfEntry } from './audit-chain.js';
import { TRIMMED } from './trim-audit.js';

/** Entries of one page. */
const ROWS = 2_000;

interface Place {
  readonly sequence: number;
  readonly hash: string;
}

/**
 * For a program that has nothing open yet. Migrates nothing, and may run while hubs do. `secret`: that of the chain's key. Throws RegistryError
 * DATABASE_UNAVAILABLE or DATABASE_REFUSED.
 */
export async function verifyAuditTrail(databaseUrl: string, secret?: string | Uint8Array): Promise<AuditVerdict> {
  const database = new Database(databaseUrl, 1, silentLogger, secret === undefined ? undefined : auditKeyOf(secret));
  try {
    return await verifyAudit(database);
  } finally {
    await database.close();
  }
}

export function verifyAudit(database: Database): Promise<AuditVerdict> {
  return database.transaction(async (snapshot) => {
    await snapshot.query({ text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY' }, []);
    const [cut] = await snapshot.query<{ sequence: string; hash: string }>(
      { text: 'SELECT sequence::text AS sequence, hash FROM audit_anchor' },
      [],
    );
    return walk(snapshot, cut && { sequence: Number(cut.sequence), hash: cut.hash });
  });
}

async function walk(snapshot: Queryable, anchor: Place | undefined): Promise<AuditVerdict> {
  const start = anchor ?? { sequence: 0, hash: GENESIS_HASH };
  const keys = new KeyedPart(snapshot.auditKey);
  let end = start;
  let trimmed: unknown;
  for (;;) {
    const text = `SELECT ${AUDIT_COLUMNS} FROM audit_entry e WHERE e.sequence > $1 ORDER BY e.sequence LIMIT ${ROWS}`;
    const records = await snapshot.query<AuditRecord>({ text }, [end.sequence]);
    for (const entry of records.map(toAuditEntry)) {
      const { sequence } = entry;
      const reason = sequence === end.sequence + 1 ? keys.faultOf(entry, end.hash) : 'MISSING';
      if (reason !== undefined) return { kind: 'broken', sequence, reason };
      if (entry.action === TRIMMED) trimmed = entry.data;
      end = entry;
    }
    if (records.length < ROWS) break;
  }
  // The hub says in the chain whatever it cuts off, so the last word about that is the anchor.
  if (anchor !== undefined && !isAbout(trimmed, anchor))
    return { kind: 'broken', sequence: anchor.sequence + 1, reason: 'MISSING' };
  if (!keys.isComplete)
    return {
      kind: 'broken',
      sequence: Math.max(end.sequence, 1),
      reason: keys.unchecked > 0 ? 'OTHER_KEY' : 'UNKEYED',
    };
  const { keyedFrom, unchecked } = keys;
  const { sequence: last, hash } = end;
  return {
    kind: 'intact',
    entries: last - start.sequence,
    first: start.sequence + 1,
    last,
    hash,
    keyedFrom,
    unchecked,
  };
}

/**
 * Which entries were made with the key. From the first one on all must be: an entry without it was written by somebody who has only the database. A trail that
 * ends without it was written again from its beginning, because a hub begins with the key when it starts.
 */
class KeyedPart {
  keyedFrom: number | undefined;
  unchecked = 0;

  constructor(private readonly key: AuditKey | undefined) {}

  get isComplete(): boolean {
    return this.key === undefined || this.keyedFrom !== undefined;
  }

  faultOf(entry: AuditEntryRow, previousHash: string): AuditFault | undefined {
    const { sequence, hash, keyId } = entry;
    const isOurs = keyId !== undefined && keyId === this.key?.id;
    if (isOurs) this.keyedFrom ??= sequence;
    else if (this.keyedFrom !== undefined) return keyId === undefined ? 'UNKEYED' : 'OTHER_KEY';
    if (keyId !== undefined && !isOurs) {
      if (this.key === undefined) return 'OTHER_KEY';
      this.unchecked += 1;
      return undefined;
    }
    return hashOfEntry(previousHash, entry, isOurs ? this.key : undefined) === hash ? undefined : 'CHANGED';
  }
}

function isAbout(trimmed: unknown, { sequence, hash }: Place): boolean {
  if (typeof trimmed !== 'object' || trimmed === null || !('sequence' in trimmed) || !('hash' in trimmed)) return false;
  return trimmed.sequence === sequence && trimmed.hash === hash;
}
