/**
 * Appends entries inside a transaction: what is recorded and its record commit together, or neither does. The chain has one end, so appends go one after
 * another; the lock is taken last in a transaction and held for its final two statements only.
 */
import { v7 } from 'uuid';
import type { AuditSource, NewAuditEntry } from '../audit-store.js';
import { storableText, toJson } from '../database/json-rows.js';
import type { Database, Queryable } from '../database/database.js';
import { GENESIS_HASH, hashOfEntry } from './audit-chain.js';
import { maskedData } from './masked-data.js';

/** Held by whoever appends. Any constant that no other lock of ours has. */
const LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.audit'))` };
const END_OF_CHAIN = {
  text: 'SELECT e.sequence::text AS sequence, e.hash, e.key_id FROM audit_entry e ORDER BY e.sequence DESC LIMIT 1',
};
const INSERT = {
  text: `INSERT INTO audit_entry (id, sequence, at, actor, action, subject, data, remote_address, hash, key_id)
         SELECT i.id, i.sequence, to_timestamp(i.at / 1000), i.actor, i.action, i.subject, i.data, i."remoteAddress", i.hash, $2
         FROM json_to_recordset($1::json) AS i(
           id uuid, sequence bigint, at float8, actor text, action text, subject text, data jsonb, "remoteAddress" text, hash text)`,
};

/** The first entry that is made with a key. It covers those before it. */
const KEYED = 'audit.keyed';

export async function appendAudit(transaction: Queryable, entries: readonly NewAuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await transaction.query(LOCK, []);
  await appendLocked(transaction, entries, await endOfChain(transaction));
}

/** Begins to chain with the key, where the newest entry was made with none or with another one. Resolves to the id of that one. */
export async function beginKeyedChain(transaction: Queryable, at: number): Promise<string | undefined> {
  const { auditKey: key } = transaction;
  if (key === undefined) return undefined;
  await transaction.query(LOCK, []);
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

/** In a statement of its own: its snapshot must be younger than the lock. */
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

/** The entry as it will be read back: what is hashed now must be what is hashed then. */
function storable({ action, actor, at, data, remoteAddress, subject }: NewAuditEntry, sequence: number) {
  const wholeMs = Math.trunc(at);
  return {
    // In the order of the chain also within one millisecond.
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

/** What an act has to say for itself, beside who did it. */
export type AuditedAct = Omit<NewAuditEntry, keyof AuditSource>;

/**
 * Runs `work` in one transaction, and appends what `actsOf` makes of its result. Without `source` nobody asked for the change (a spec, a migration of
 * the hub's own), and nothing is recorded.
 */
export function audited<Result>(
  database: Database,
  source: AuditSource | undefined,
  work: (transaction: Queryable) => Promise<Result>,
  actsOf: (result: Result) => readonly AuditedAct[],
): Promise<Result> {
  return database.transaction(async (transaction) => {
    const result = await work(transaction);
    if (source !== undefined) {
      const { actor, remoteAddress } = source;
      await appendAudit(
        transaction,
        actsOf(result).map((act) => ({ ...act, actor, remoteAddress })),
      );
    }
    return result;
  });
}
