/** What `flotilla apply` wrote: few rows, read and written by operators of the command line. */
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database, Queryable } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { plainRow } from '../database/plain-row.js';
import type { AppliedConfiguration, Prisma } from '../generated/prisma/client.js';
import type { Page, PageRequest } from '../page.js';
import type { AppliedAnswer, AppliedConfigurationRow, AppliedRecord } from './applied-configuration.js';
import { maskedFields } from './masked-fields.js';

interface AppliedChange {
  readonly rowsMax: number;
  readonly at: number;
  readonly by: AuditSource;
}

export class AppliedConfigurationStore {
  constructor(private readonly database: Database) {}

  /** By kind, then by name. */
  async page(request: PageRequest): Promise<Page<AppliedConfigurationRow>> {
    const after = decodeCursor('applied-configurations', request, z.tuple([z.string(), z.string()]));
    const where =
      after === undefined ? {} : { OR: [{ kind: { gt: after[0] } }, { kind: after[0], name: { gt: after[1] } }] };
    const query = { where, orderBy: [{ kind: 'asc' as const }, { name: 'asc' as const }], take: request.first + 1 };
    const rows = await this.database.ask((prisma) => prisma.appliedConfiguration.findMany(query));
    return toPage(
      rows,
      request,
      'applied-configurations',
      ({ kind, name }) => [kind, name],
      (row) => toRow(row),
    );
  }

  /** Records all or none. An audit entry names the things, and no values. */
  record(records: readonly AppliedRecord[], { rowsMax, at, by }: AppliedChange): Promise<AppliedAnswer> {
    return audited(
      this.database,
      by,
      async (transaction): Promise<AppliedAnswer> => {
        await lock(transaction);
        return transaction.ask(async (prisma) => {
          const conflict = await conflictOf(prisma, records);
          if (conflict !== undefined) return { kind: 'CONFLICT', index: conflict };
          const made = records.filter(({ fields, revision }) => fields !== undefined && revision === undefined).length;
          if (made > 0 && (await prisma.appliedConfiguration.count()) + made > rowsMax) return { kind: 'FULL' };
          const rows: AppliedConfigurationRow[] = [];
          for (const record of records) rows.push(...(await write(prisma, record, at, by.actor)));
          return { kind: 'recorded', rows };
        });
      },
      (answer) =>
        answer.kind === 'recorded'
          ? [
              {
                action: 'configuration.applied',
                subject: 'configuration',
                data: {
                  recorded: records.flatMap((record) => (record.fields === undefined ? [] : [titleOf(record)])),
                  removed: records.flatMap((record) => (record.fields === undefined ? [titleOf(record)] : [])),
                },
                at,
              },
            ]
          : [],
    );
  }
}

const titleOf = ({ kind, name }: AppliedRecord) => `${kind} ${name}`;

/** Writers take turns, because revisions are compared and the number of rows is bounded. */
async function lock(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'LOCK TABLE applied_configuration IN SHARE ROW EXCLUSIVE MODE' }, []);
}

const keyOf = ({ kind, name }: AppliedRecord) => ({ kind: storableText(kind), name: storableText(name) });

async function conflictOf(
  prisma: Prisma.TransactionClient,
  records: readonly AppliedRecord[],
): Promise<number | undefined> {
  for (const [index, record] of records.entries()) {
    const now = await prisma.appliedConfiguration.findUnique({ where: { kind_name: keyOf(record) } });
    if (now?.revision !== record.revision) return index;
  }
  return undefined;
}

async function write(
  prisma: Prisma.TransactionClient,
  record: AppliedRecord,
  at: number,
  appliedBy: string,
): Promise<readonly AppliedConfigurationRow[]> {
  const key = keyOf(record);
  if (record.fields === undefined) {
    await prisma.appliedConfiguration.deleteMany({ where: key });
    return [];
  }
  const data = {
    fields: storableJson(maskedFields(record.fields)) as Prisma.InputJsonValue,
    revision: (record.revision ?? 0) + 1,
    appliedBy: storableText(appliedBy),
    appliedAt: new Date(at),
  };
  const row = await prisma.appliedConfiguration.upsert({
    where: { kind_name: key },
    create: { ...key, ...data },
    update: data,
  });
  return [toRow(row)];
}

/** Former versions stored the fields without masks. */
function toRow(row: AppliedConfiguration): AppliedConfigurationRow {
  const { fields, ...plain } = row;
  return { ...plainRow(plain), fields: maskedFields(fields as AppliedConfigurationRow['fields']) };
}
