/** What operators know about tools. Which policy applies to a tool is decided elsewhere. */
import type { ToolPolicy } from '@flotilla/jobs';
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import { QUESTION_TIMEOUT_MS } from '../database/database.js';
import type { Database, Queryable } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { plainRow } from '../database/plain-row.js';
import { Prisma } from '../generated/prisma/client.js';
import type { ToolPolicy as PolicyRecord } from '../generated/prisma/client.js';

/** Policies that were set before 0.2.0 have neither a tolerance nor a settle time. */
const readback = z
  .object({
    tool: z.string(),
    path: z.string(),
    argument: z.string(),
    tolerance: z.number().optional(),
    settleMs: z.number().optional(),
  })
  .optional();

/** SQL, because Prisma compiles its first query for a tenth of a second, while devices connect. */
const ALL = {
  name: 'all-policies',
  text: `SELECT pattern, idempotent, disruptive, read_only AS "readOnly", disconnect_expected AS "disconnectExpected",
           verification, readback, failure_text AS "failureText", call_timeout_ms AS "callTimeoutMs"
         FROM tool_policy ORDER BY pattern`,
  timeoutMs: QUESTION_TIMEOUT_MS,
};

interface Change {
  readonly at: number;
  readonly by?: AuditSource;
}

interface SetPolicyOptions extends Change {
  readonly policiesMax: number;
  /** Whether the stored policies are still those that the caller knows; any are if not given. */
  readonly isExpected?: ((stored: readonly ToolPolicy[]) => boolean) | undefined;
}

type SetPolicyAnswer = 'SET' | 'FULL' | 'OTHER_REVISION';

export class ToolPolicyStore {
  constructor(private readonly database: Database) {}

  all(): Promise<readonly ToolPolicy[]> {
    return readAll(this.database);
  }

  /** Creates or replaces the policy of its pattern. FULL where there are `policiesMax` others. */
  set(policy: ToolPolicy, { policiesMax, isExpected, at, by }: SetPolicyOptions): Promise<SetPolicyAnswer> {
    const pattern = storableText(policy.pattern);
    const columns = {
      ...policy,
      pattern,
      failureText: policy.failureText ?? null,
      readOnly: policy.readOnly ?? null,
      readback: policy.readback === undefined ? Prisma.DbNull : storableJson(policy.readback),
    };
    return audited(
      this.database,
      by,
      async (transaction): Promise<SetPolicyAnswer> => {
        await lock(transaction);
        if (isExpected && !isExpected(await readAll(transaction))) return 'OTHER_REVISION';
        return transaction.ask(async (prisma): Promise<SetPolicyAnswer> => {
          if ((await prisma.toolPolicy.count({ where: { pattern: { not: pattern } } })) >= policiesMax) {
            // A policy that exists is changed, however many there are.
            return (await prisma.toolPolicy.updateMany({ where: { pattern }, data: columns })).count > 0
              ? 'SET'
              : 'FULL';
          }
          await prisma.toolPolicy.upsert({ where: { pattern }, create: columns, update: columns });
          return 'SET';
        });
      },
      (answer) => {
        const change = { action: 'policy.set', subject: `policy:${policy.pattern}`, data: { ...policy }, at };
        return answer === 'SET' ? [change] : [];
      },
    );
  }

  /** False where there is no such policy. */
  remove(pattern: string, { at, by }: Change): Promise<boolean> {
    const where = { pattern: storableText(pattern) };
    return audited(
      this.database,
      by,
      async (transaction) => (await transaction.ask((prisma) => prisma.toolPolicy.deleteMany({ where }))).count > 0,
      (isRemoved) => (isRemoved ? [{ action: 'policy.deleted', subject: `policy:${pattern}`, data: {}, at }] : []),
    );
  }
}

async function readAll(database: Queryable): Promise<readonly ToolPolicy[]> {
  const policies = (await database.query<PolicyRecord>(ALL, [])).map(plainRow);
  return policies.map((policy) => ({ ...policy, readback: readback.parse(policy.readback) }));
}

/** Writers take turns, so that no other changes a policy between its check and its change. */
async function lock(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'LOCK TABLE tool_policy IN SHARE ROW EXCLUSIVE MODE' }, []);
}
