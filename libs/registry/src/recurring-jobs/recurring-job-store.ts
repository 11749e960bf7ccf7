/** Recurring jobs: few rows, each a schedule. A worker reads those that are due. */
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import type { AuditSource, AuditedChange, ChangeOrigin } from '../audit/audit-entry.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database, Queryable } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { plainRow } from '../database/plain-row.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Prisma, RecurringJob } from '../generated/prisma/client.js';
import type { Page, PageRequest } from '../page.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import type {
  ChangedRecurringJob,
  MissedRunPolicy,
  NewRecurringJob,
  OverlapPolicy,
  RecurringJobAnswer,
  RecurringJobPlan,
  RecurringJobRow,
  RecurringJobUpdate,
  RecurringRequest,
  RecurringRun,
} from './recurring-job.js';

/** What no row shows. */
const OMITTED = { secretArguments: true, idempotencyKey: true, requestHash: true } as const;

export class RecurringJobStore {
  constructor(
    private readonly database: Database,
    private readonly seal: ArgumentSeal,
  ) {}

  /** FULL where there are `jobsMax`. A repeated request returns its earlier row. */
  async create(
    plan: NewRecurringJob,
    { jobsMax, at, by }: ChangeOrigin & { readonly jobsMax: number },
  ): Promise<RecurringJobAnswer> {
    const { createdById, idempotencyKey } = plan;
    const { tool = '', arguments: given = {} } = plan.request;
    return audited(
      this.database,
      by,
      async (transaction): Promise<RecurringJobAnswer> => {
        await lock(transaction);
        return transaction.ask(async (prisma) => {
          const where = { createdById_idempotencyKey: { createdById, idempotencyKey: storableText(idempotencyKey) } };
          const earlier = await prisma.recurringJob.findUnique({ where, omit: { ...OMITTED, requestHash: false } });
          if (earlier !== null) {
            const { requestHash, ...row } = earlier;
            const isRepeated = this.seal.isHashOf(requestHash, plan.requestHash);
            return isRepeated ? { kind: 'repeat', job: toRow(row) } : { kind: 'CONFLICT' };
          }
          if (await isTaken(prisma, plan)) return { kind: 'NAME_TAKEN' };
          if ((await prisma.recurringJob.count()) >= jobsMax) return { kind: 'FULL' };
          const data = {
            ...this.#columnsOf(plan),
            id: plan.id,
            createdById,
            savedById: createdById,
            secretsById: createdById,
            createdBy: storableText(plan.createdBy),
            idempotencyKey: storableText(idempotencyKey),
            requestHash: this.seal.storedHash(plan.requestHash, tool, given),
            createdAt: new Date(at),
            updatedAt: new Date(at),
          };
          return { kind: 'saved', job: toRow(await prisma.recurringJob.create({ data, omit: OMITTED })) };
        });
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('recurring_job.created', answer.job, at)] : []),
    );
  }

  /** Replaces the plan and who saved it. */
  async update(plan: ChangedRecurringJob, { at, by, isExpected }: RecurringJobUpdate): Promise<RecurringJobAnswer> {
    const { id, savedById, secretsById, pausedReason = null, keepsRequest = false } = plan;
    if (!isUuid(id)) return { kind: 'NOT_FOUND' };
    return audited(
      this.database,
      by,
      async (transaction): Promise<RecurringJobAnswer> => {
        await lock(transaction);
        return transaction.ask(async (prisma) => {
          const stored = await prisma.recurringJob.findUnique({ where: { id }, omit: OMITTED });
          if (stored === null) return { kind: 'NOT_FOUND' };
          if (isExpected?.(toRow(stored)) === false) return { kind: 'OTHER_REVISION' };
          if (await isTaken(prisma, plan)) return { kind: 'NAME_TAKEN' };
          const saved = { savedById, secretsById, pausedReason, updatedAt: new Date(at) };
          const nextRunAt = isStillDue(toRow(stored), plan, at) ? stored.nextRunAt?.getTime() : plan.nextRunAt;
          const { request, secretArguments, ...columns } = this.#columnsOf({ ...plan, nextRunAt });
          const data = { ...columns, ...(keepsRequest ? {} : { request, secretArguments }), ...saved };
          const row = await prisma.recurringJob.update({ where: { id }, data, omit: OMITTED });
          return { kind: 'saved', job: toRow(row) };
        });
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('recurring_job.edited', answer.job, at)] : []),
    );
  }

  /** The jobs that ran stay. False where there is no such id. */
  async remove(id: string, { at, by }: ChangeOrigin): Promise<boolean> {
    const job = await this.find(id);
    if (job === undefined) return false;
    return audited(
      this.database,
      by,
      (transaction) =>
        transaction.ask(async (prisma) => (await prisma.recurringJob.deleteMany({ where: { id } })).count > 0),
      (isRemoved) => (isRemoved ? [changeOf('recurring_job.deleted', job, at)] : []),
    );
  }

  async find(id: string): Promise<RecurringJobRow | undefined> {
    if (!isUuid(id)) return undefined;
    const row = await this.database.ask((prisma) => prisma.recurringJob.findUnique({ where: { id }, omit: OMITTED }));
    return row === null ? undefined : toRow(row);
  }

  /** By name; only those of one creator (`principalRef`) if it is given. */
  async page(request: PageRequest, createdById?: string): Promise<Page<RecurringJobRow>> {
    const after = decodeCursor('recurring-jobs', request, z.tuple([z.string()]));
    const where = {
      ...(after === undefined ? {} : { name: { gt: after[0] } }),
      ...(createdById === undefined ? {} : { createdById }),
    };
    const query = { where, orderBy: { name: 'asc' as const }, take: request.first + 1, omit: OMITTED };
    const rows = await this.database.ask((prisma) => prisma.recurringJob.findMany(query));
    return toPage(
      rows,
      request,
      'recurring-jobs',
      ({ name }) => [name],
      (row) => toRow(row),
    );
  }

  count(createdById?: string): Promise<number> {
    const where = createdById === undefined ? {} : { createdById };
    return this.database.ask((prisma) => prisma.recurringJob.count({ where }));
  }

  /**
   * The request with its secrets, to run it. `lost` if they were sealed with another key, undefined
   * for an unknown id.
   */
  async requestOf(id: string): Promise<RecurringRequest | 'lost' | undefined> {
    const select = { request: true, secretArguments: true };
    const row = await this.database.ask((prisma) => prisma.recurringJob.findUnique({ where: { id }, select }));
    return row === null ? undefined : this.#opened(id, row);
  }

  /**
   * The recurring job with its request as it is sent, in one read, because the request and the
   * rights belong together. With `dueAt` only if its run at this time is still due.
   */
  async findRun(id: string, dueAt?: number): Promise<RecurringRun | undefined> {
    if (!isUuid(id)) return undefined;
    const where = dueAt === undefined ? { id } : { id, enabled: true, nextRunAt: new Date(dueAt) };
    const query = { where, omit: { ...OMITTED, secretArguments: false } };
    const found = await this.database.ask((prisma) => prisma.recurringJob.findFirst(query));
    if (found === null) return undefined;
    const { secretArguments, ...row } = found;
    return { job: toRow(row), request: this.#opened(id, { request: row.request, secretArguments }) };
  }

  /** Those whose next run is at or before `at`, the longest due first. */
  async due(at: number, limit: number): Promise<readonly RecurringJobRow[]> {
    const where = { enabled: true, nextRunAt: { lte: new Date(at) } };
    const query = { where, orderBy: { nextRunAt: 'asc' as const }, take: limit, omit: OMITTED };
    return (await this.database.ask((prisma) => prisma.recurringJob.findMany(query))).map((row) => toRow(row));
  }

  /** The time of the next run of any, ms since the Unix epoch. */
  async nextDueAt(): Promise<number | undefined> {
    const query = { where: { enabled: true }, _min: { nextRunAt: true } } as const;
    return (await this.database.ask((prisma) => prisma.recurringJob.aggregate(query)))._min.nextRunAt?.getTime();
  }

  /** Sets the next run, if the one at `dueAt` is still due. Another worker may have been faster. */
  async advance(id: string, dueAt: number, nextRunAt: number | undefined): Promise<boolean> {
    const where = { id, enabled: true, nextRunAt: new Date(dueAt) };
    const data = { nextRunAt: nextRunAt === undefined ? null : new Date(nextRunAt) };
    return (await this.database.ask((prisma) => prisma.recurringJob.updateMany({ where, data }))).count > 0;
  }

  /**
   * Disables it until it is saved again. False where another worker was faster, or where it was
   * saved since `job` was read.
   */
  pause(job: RecurringJobRow, reason: string, at: number, by: AuditSource): Promise<boolean> {
    const data = { enabled: false, nextRunAt: null, pausedReason: storableText(reason) };
    const change = { where: { id: job.id, enabled: true, updatedAt: new Date(job.updatedAt) }, data };
    return audited(
      this.database,
      by,
      (transaction) => transaction.ask(async (prisma) => (await prisma.recurringJob.updateMany(change)).count > 0),
      (isPaused) =>
        isPaused ? [{ ...changeOf('recurring_job.paused', { ...job, enabled: false }, at, { reason }) }] : [],
    );
  }

  #opened(
    id: string,
    { request, secretArguments }: Pick<RecurringJob, 'request' | 'secretArguments'>,
  ): RecurringRequest | 'lost' {
    const shown = request as unknown as RecurringRequest;
    if (secretArguments === null) return shown;
    const opened = this.seal.open(id, secretArguments);
    return opened === undefined ? 'lost' : { ...shown, arguments: opened };
  }

  #columnsOf({
    id,
    request,
    ...plan
  }: RecurringJobPlan & { readonly id: string; readonly nextRunAt: number | undefined }) {
    const { tool, arguments: given } = request;
    const { shown, sealed } =
      tool === undefined || given === undefined ? { shown: given, sealed: undefined } : this.seal.seal(id, tool, given);
    return {
      name: storableText(plan.name),
      cron: plan.cron,
      timeZone: plan.timeZone,
      request: storableJson({ ...request, ...(shown && { arguments: shown }) }) as Prisma.InputJsonValue,
      secretArguments: sealed === undefined ? null : Uint8Array.from(sealed),
      missed: plan.missed,
      overlap: plan.overlap,
      enabled: plan.enabled,
      until: plan.until === undefined ? null : new Date(plan.until),
      nextRunAt: plan.nextRunAt === undefined ? null : new Date(plan.nextRunAt),
    };
  }
}

/** Writers take turns, because names are unique and the number of rows is bounded. */
async function lock(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'LOCK TABLE recurring_job IN SHARE ROW EXCLUSIVE MODE' }, []);
}

/**
 * Whether an edit leaves a run that has not begun yet. That of another person does not: jobs have
 * one key per person, so theirs could run beside one that began with the former rights.
 */
function isStillDue(stored: RecurringJobRow, edit: ChangedRecurringJob, at: number): boolean {
  const isDue = stored.enabled && stored.nextRunAt !== undefined && stored.nextRunAt <= at;
  const { cron, enabled, savedById, timeZone } = edit;
  return isDue && enabled && cron === stored.cron && timeZone === stored.timeZone && savedById === stored.savedById;
}

async function isTaken(
  prisma: Prisma.TransactionClient,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  return (await prisma.recurringJob.count({ where: { name: storableText(name), id: { not: id } } })) > 0;
}

function toRow({ request, ...row }: Omit<RecurringJob, keyof typeof OMITTED>): RecurringJobRow {
  const { missed, overlap, ...plain } = plainRow(row);
  return {
    ...plain,
    secretsById: row.secretsById ?? row.savedById,
    request: request as unknown as RecurringRequest,
    missed: missed as MissedRunPolicy,
    overlap: overlap as OverlapPolicy,
  };
}

function changeOf(
  action: string,
  { id, name, cron, timeZone, request, missed, overlap, until, enabled }: RecurringJobRow,
  at: number,
  more: Readonly<Record<string, unknown>> = {},
): AuditedChange {
  const data = { name, cron, timeZone, job: request, missed, overlap, until, enabled, ...more };
  return { action, subject: `recurring-job:${id}`, data, at };
}
