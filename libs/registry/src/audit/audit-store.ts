/**
 * The audit trail: a batch writer for changes outside the registry, pages, and the check of the
 * chain.
 */
import { z } from 'zod';
import { toAuditEntry } from './audit-entry.js';
import type { AuditEntryRow, AuditFilter, AuditOrder, AuditVerdict, NewAuditEntry } from './audit-entry.js';
import { BatchWriter } from '../database/batch-writer.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { lowestUuidOf } from '../database/uuid-v7.js';
import type { Page, PageRequest } from '../page.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import { appendAudit } from './append-audit.js';
import { verifyAudit } from './verify-audit.js';

const ROWS_PER_WRITE = 500;
/**
 * Entries that wait while PostgreSQL is unavailable: more than there are privileged calls in
 * flight.
 */
const DEPTH_MAX = 5_000;
/** From this depth on the store is overloaded. The rest is for calls that have started already. */
const OVERLOADED_DEPTH = 2_000;

export class AuditStore {
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

  /**
   * Records a change outside the transactions of this registry, and resolves when it is committed.
   * Waits while PostgreSQL is unavailable. Rejects with OVERLOADED when full.
   */
  record(entry: NewAuditEntry): Promise<void> {
    return this.#writer.add(entry);
  }

  /** While true, no operation should start that must be recorded. */
  get isOverloaded(): boolean {
    return this.#writer.depth >= OVERLOADED_DEPTH;
  }

  /** A cursor belongs to its order. */
  async page(
    { actor, action, subject, since, until }: AuditFilter,
    request: PageRequest,
    order: AuditOrder = 'LATEST_FIRST',
  ): Promise<Page<AuditEntryRow>> {
    const [beyond, direction] = order === 'LATEST_FIRST' ? (['lt', 'desc'] as const) : (['gt', 'asc'] as const);
    const after = decodeCursor('audit', request, z.tuple([z.uuid()]));
    const where = {
      ...(actor === undefined ? {} : { actor: storableText(actor) }),
      ...(action === undefined ? {} : { action: storableText(action) }),
      ...(subject === undefined ? {} : { subject: storableText(subject) }),
      AND: [
        ...(since === undefined ? [] : [{ id: { gte: lowestUuidOf(since) } }]),
        ...(until === undefined ? [] : [{ id: { lt: lowestUuidOf(until) } }]),
        ...(after === undefined ? [] : [{ id: { [beyond]: after[0] } }]),
      ],
    };
    const query = { where, orderBy: { id: direction }, take: request.first + 1 };
    const records = await this.#database.ask((prisma) => prisma.auditEntry.findMany(query));
    return toPage(records, request, 'audit', ({ id }) => [id], toAuditEntry);
  }

  /** Reads the whole chain page by page, from where retention cut it, and checks all hashes. */
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
