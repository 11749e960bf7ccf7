/**
 * Appends entries inside a transaction: a change and its entry commit together, or neither does.
 * The chain has one end, so appends take turns. A change takes the lock last, and holds it for its
 * final two statements only.
 */
import { v7 } from 'uuid';
import type { AuditedChange, AuditSource, NewAuditEntry } from './audit-entry.js';
import { storableText, toJson } from '../database/json-rows.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { GENESIS_HASH, hashOfEntry } from './audit-chain.js';
import { maskedData } from './masked-data.js';

/** Held while a transaction appends. A constant that no other lock of the hub has. */
const LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.audit'))` };
const END_OF_CHAIN = {
  text: 'SELECT e.sequence::text AS sequence, e.hash, e.key_id FROM audit_entry e ORDER BY e.sequence DESC LIMIT 1',
};
const INSERT = {
  text: `INSERT INTO audit_entry (id, sequence, at, actor, action, subject, data, remote_address, hash, key_id)
         SELECT i.id, i.sequence, to_timestamp(i.at / 1000), i.actor, i.action, i.subject, i.data,
           i."remoteAddress", i.hash, $2
         FROM json_to_recordset($1::json) AS i(
           id uuid, sequence bigint, at float8, actor text, action text, subject text, data jsonb,
           "remoteAddress" text, hash text)`,
};

/** The action of the first entry with a key, whose hash covers those before it. */
export const KEYED = 'audit.keyed';

/** Until the end of the transaction no other one changes the chain. May be called repeatedly. */
export async function lockChain(transaction: Queryable): Promise<void> {
  await transaction.query(LOCK, []);
}

export async function appendAudit(transaction: Queryable, entries: readonly NewAuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await lockChain(transaction);
  await appendLocked(transaction, entries, await endOfChain(transaction));
}

/**
 * Begins to chain with the key if the newest entry has another key or none.
 * Resolves to the id of the other key.
 */
export async function beginKeyedChain(transaction: Queryable, at: number): Promise<string | undefined> {
  const { auditKey: key } = transaction;
  if (key === undefined) return undefined;
  await lockChain(transaction);
  const end = await endOfChain(transaction);
  if (end?.key_id === key.id) return undefined;
  const formerKeyId = end?.key_id ?? undefined;
  const entry = { actor: 'hub', action: KEYED, subject: 'audit', data: { keyId: key.id, formerKeyId }, at };
  await appendLocked(transaction, [entry], end);
  return formerKeyId;
}

interface EndOfChain {
  readonly sequence: string;
  readonly hash: string;
  readonly key_id: string | null;
}

/** A separate statement, because its snapshot must be younger than the lock. */
async function endOfChain(transaction: Queryable): Promise<EndOfChain | undefined> {
  return (await transaction.query<EndOfChain>(END_OF_CHAIN, []))[0];
}

async function appendLocked(
  transaction: Queryable,
  entries: readonly NewAuditEntry[],
  end: EndOfChain | undefined,
): Promise<void> {
  const { auditKey: key } = transaction;
  let sequence = Number(end?.sequence ?? 0);
  let hash = end?.hash ?? GENESIS_HASH;
  const rows = entries.map((entry) => {
    sequence += 1;
    const row = storable(entry, sequence);
    hash = hashOfEntry(hash, row, key);
    return { ...row, hash };
  });
  await transaction.query(INSERT, [toJson(rows), key?.id]);
}

/** The entry as it will be read again: both times the same text must be hashed. */
function storable({ action, actor, at, data, remoteAddress, subject }: NewAuditEntry, sequence: number) {
  const wholeMs = Math.trunc(at);
  return {
    // Ids follow the order of the chain within a millisecond, too.
    id: v7({ msecs: wholeMs, seq: sequence % 2 ** 31 }),
    sequence,
    at: wholeMs,
    actor: storableText(actor),
    action,
    subject: storableText(subject),
    data: JSON.parse(toJson(maskedData(data))) as Readonly<Record<string, unknown>>,
    remoteAddress: remoteAddress === undefined ? undefined : storableText(remoteAddress),
  };
}

/**
 * Runs `work` in one transaction, and records the changes in its result. Without `source` no caller
 * asked for the change, and nothing is recorded.
 */
export function audited<Result>(
  database: Database,
  source: AuditSource | undefined,
  work: (transaction: Transaction) => Promise<Result>,
  changesIn: (result: Result) => readonly AuditedChange[],
): Promise<Result> {
  return database.transaction(async (transaction) => {
    const result = await work(transaction);
    if (source !== undefined) {
      const { actor, remoteAddress } = source;
      await appendAudit(
        transaction,
        changesIn(result).map((change) => ({ ...change, actor, remoteAddress })),
      );
    }
    return result;
  });
}
