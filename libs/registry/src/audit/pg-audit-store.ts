/** The audit trail in PostgreSQL: a writer for what has no transaction of the registry's own, pages for readers, and the check of the chain. */
import { z } from 'zod';
import type {
  AuditEntryRow,
  AuditFilter,
  AuditOrder,
  AuditStore,
  AuditVerdict,
  NewAuditEntry,
} from '../audit-store.js';
import { BatchWriter } from '../database/batch-writer.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import { lowestUuidOf } from '../database/uuid-v7.js';
import type { Page, PageRequest } from '../page.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import { appendAudit } from './append-audit.js';
import { AUDIT_COLUMNS, toAuditEntry } from './audit-rows.js';
import type { AuditRecord } from './audit-rows.js';
import { verifyAudit } from './verify-audit.js';

const ROWS_PER_WRITE = 500;
/** Entries that wait while PostgreSQL is away: an entry stands for a call in flight, and this is more than privileged ones ever are. */
const DEPTH_MAX = 5_000;
/** From here on nothing is begun that must be recorded; what is under way finds the rest of the room. */
const OVERLOADED_DEPTH = 2_000;
export class PgAuditStore implements AuditStore {
  readonly #database: Database;
  readonly #writer: BatchWriter<NewAuditEntry, undefined>;

  constructor(database: Database, logger: RegistryLogger) {
    this.#database = database;
    this.#writer = new BatchWriter<NewAuditEntry, undefined>({
      name: 'audit',
      write: async (entries) => {
        await database.transaction((transaction) => appendAudit(transaction, entries));
        return entries.map(() => undefined);
      },
      rowsPerWrite: ROWS_PER_WRITE,
      depthMax: DEPTH_MAX,
      gatherMs: 0,
      logger,
    });
  }

  record(entry: NewAuditEntry): Promise<void> {
    return this.#writer.add(entry);
  }

  get isOverloaded(): boolean {
    return this.#writer.depth >= OVERLOADED_DEPTH;
  }

  async page(
    { actor, action, subject, since, until }: AuditFilter,
    request: PageRequest,
    order: AuditOrder = 'LATEST_FIRST',
  ): Promise<Page<AuditEntryRow>> {
    const [beyond, direction] = order === 'LATEST_FIRST' ? ['<', 'DESC'] : ['>', 'ASC'];
    const after = decodeCursor('audit', request, z.tuple([z.uuid()]));
    const parameters: unknown[] = [];
    const conditions = ['TRUE'];
    if (actor !== undefined) conditions.push(`actor = ${bind(parameters, storableText(actor))}`);
    if (action !== undefined) conditions.push(`action = ${bind(parameters, storableText(action))}`);
    if (subject !== undefined) conditions.push(`subject = ${bind(parameters, storableText(subject))}`);
    if (since !== undefined) conditions.push(`id >= ${bind(parameters, lowestUuidOf(since))}::uuid`);
    if (until !== undefined) conditions.push(`id < ${bind(parameters, lowestUuidOf(until))}::uuid`);
    if (after !== undefined) conditions.push(`id ${beyond} ${bind(parameters, after[0])}::uuid`);
    const records = await this.#database.query<AuditRecord>(
      {
        text: `SELECT ${AUDIT_COLUMNS} FROM audit_entry WHERE ${conditions.join(' AND ')} ORDER BY id ${direction} LIMIT ${bind(parameters, request.first + 1)}`,
      },
      parameters,
    );
    return toPage(records, request, 'audit', ({ id }) => [id], toAuditEntry);
  }

  verify(): Promise<AuditVerdict> {
    return verifyAudit(this.#database);
  }

  status(): WriterStatus {
    return this.#writer.status();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
