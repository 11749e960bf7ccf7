/**
 * Computes all hashes of the chain again, from where retention cut it, on one snapshot of the
 * database.
 */
import { KEYED } from './append-audit.js';
import { toAuditEntry } from './audit-entry.js';
import type { AuditEntryRow, AuditFault, AuditVerdict } from './audit-entry.js';
import { Database } from '../database/database.js';
import type { Queryable } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import type { AuditEntry } from '../generated/prisma/client.js';
import { auditKeyOf, type AuditKey } from './audit-key.js';
import { GENESIS_HASH, hashOfEntry } from './audit-chain.js';
import { TRIMMED } from './trim-audit.js';

/** Entries of one page. */
const ROWS = 2_000;
const NEXT = {
  text: `SELECT id, sequence::float8 AS sequence, at, actor, action, subject, data, remote_address AS "remoteAddress",
           hash, key_id AS "keyId"
         FROM audit_entry WHERE sequence > $1 ORDER BY sequence LIMIT $2`,
};

interface Place {
  readonly sequence: number;
  readonly hash: string;
}

/**
 * For a program without a registry. It migrates nothing, and may run beside hubs.
 * Throws RegistryError DATABASE_UNAVAILABLE or DATABASE_REFUSED.
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
    const records = await snapshot.query<AuditEntry>(NEXT, [end.sequence, ROWS]);
    for (const entry of records.map(toAuditEntry)) {
      const { sequence } = entry;
      const reason = sequence === end.sequence + 1 ? keys.faultOf(entry, end.hash) : 'MISSING';
      if (reason !== undefined) return { kind: 'broken', sequence, reason };
      if (entry.action === TRIMMED) trimmed = entry.data;
      end = entry;
    }
    if (records.length < ROWS) break;
  }
  // The hub records in the chain what it removes, so the latest such entry describes the anchor.
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
 * Tracks the entries with the key. After the first one all must have it: who has only the database
 * cannot make it. A trail that ends without the key was replaced, because hubs start with the key.
 */
class KeyedPart {
  keyedFrom: number | undefined;
  unchecked = 0;
  /** The other key of the newest entry that has one. */
  #otherKeyId: string | undefined;

  constructor(private readonly key: AuditKey | undefined) {}

  get isComplete(): boolean {
    return this.key === undefined || this.keyedFrom !== undefined;
  }

  faultOf(entry: AuditEntryRow, previousHash: string): AuditFault | undefined {
    const { sequence, hash, keyId } = entry;
    const isOurs = keyId !== undefined && keyId === this.key?.id;
    // Without this rule a changed entry would only have to name another key.
    if (isOurs && this.unchecked > 0 && this.keyedFrom === undefined && !follows(entry, this.#otherKeyId))
      return 'OTHER_KEY';
    if (isOurs) this.keyedFrom ??= sequence;
    else if (this.keyedFrom !== undefined) return keyId === undefined ? 'UNKEYED' : 'OTHER_KEY';
    if (keyId === undefined && this.unchecked > 0) return 'UNKEYED';
    if (keyId !== undefined && !isOurs) {
      if (this.key === undefined) return 'OTHER_KEY';
      this.unchecked += 1;
      this.#otherKeyId = keyId;
      return undefined;
    }
    return hashOfEntry(previousHash, entry, isOurs ? this.key : undefined) === hash ? undefined : 'CHANGED';
  }
}

/** Whether the hub began to use its key with this entry, after entries with the other key. */
function follows({ action, data }: AuditEntryRow, otherKeyId: string | undefined): boolean {
  return action === KEYED && data['formerKeyId'] === otherKeyId;
}

function isAbout(trimmed: unknown, { sequence, hash }: Place): boolean {
  if (typeof trimmed !== 'object' || trimmed === null || !('sequence' in trimmed) || !('hash' in trimmed)) return false;
  return trimmed.sequence === sequence && trimmed.hash === hash;
}
