/** Computes the chain of the audit trail anew, from its beginning or from where retention has cut it, on one snapshot of the database. */
import type { AuditVerdict } from '../audit-store.js';
import { Database } from '../database/database.js';
import type { Queryable } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
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

/** For whoever has nothing open yet. Migrates nothing, and may run while hubs do. Throws RegistryError DATABASE_UNAVAILABLE or DATABASE_REFUSED. */
export async function verifyAuditTrail(databaseUrl: string): Promise<AuditVerdict> {
  const database = new Database(databaseUrl, 1, silentLogger);
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
  let end = start;
  let trimmed: unknown;
  for (;;) {
    const text = `SELECT ${AUDIT_COLUMNS} FROM audit_entry e WHERE e.sequence > $1 ORDER BY e.sequence LIMIT ${ROWS}`;
    const records = await snapshot.query<AuditRecord>({ text }, [end.sequence]);
    for (const entry of records.map(toAuditEntry)) {
      if (entry.sequence !== end.sequence + 1) return { kind: 'broken', sequence: entry.sequence, reason: 'MISSING' };
      if (hashOfEntry(end.hash, entry) !== entry.hash) return { kind: 'broken', sequence: entry.sequence, reason: 'CHANGED' };
      if (entry.action === TRIMMED) trimmed = entry.data;
      end = entry;
    }
    if (records.length < ROWS) break;
  }
  // The hub says in the chain whatever it cuts off, so the last word about that is the anchor.
  if (anchor !== undefined && !isAbout(trimmed, anchor)) return { kind: 'broken', sequence: anchor.sequence + 1, reason: 'MISSING' };
  return { kind: 'intact', entries: end.sequence - start.sequence, first: start.sequence + 1, last: end.sequence, hash: end.hash };
}

function isAbout(trimmed: unknown, { sequence, hash }: Place): boolean {
  if (typeof trimmed !== 'object' || trimmed === null || !('sequence' in trimmed) || !('hash' in trimmed)) return false;
  return trimmed.sequence === sequence && trimmed.hash === hash;
}
