/** The operator's table of tools. Which policy a tool has is decided by who asks. */
import type { ToolPolicy } from '@flotilla/jobs';
import { z } from 'zod';
import { audited } from './audit/append-audit.js';
import { QUESTION_TIMEOUT_MS } from './database/database.js';
import type { Database } from './database/database.js';
import { storableText } from './database/json-rows.js';
import type { ToolPolicyStore } from './registry.js';

const readback = z.object({ tool: z.string(), path: z.string(), argument: z.string() }).nullable();

/** $10: the most policies that there may be. One that is there already is changed whatever their number. */
const SET = {
  text: `INSERT INTO tool_policy (pattern, idempotent, disruptive, disconnect_expected, verification, readback, failure_text, call_timeout_ms, read_only)
         SELECT $1, $2, $3, $4, $5::verification, $6::jsonb, $7, $8, $9::boolean
         WHERE EXISTS (SELECT FROM tool_policy WHERE pattern = $1) OR (SELECT count(*) FROM tool_policy) < $10
         ON CONFLICT (pattern) DO UPDATE SET idempotent = EXCLUDED.idempotent, disruptive = EXCLUDED.disruptive,
           disconnect_expected = EXCLUDED.disconnect_expected, verification = EXCLUDED.verification, readback = EXCLUDED.readback,
           failure_text = EXCLUDED.failure_text, call_timeout_ms = EXCLUDED.call_timeout_ms, read_only = EXCLUDED.read_only
         RETURNING pattern`,
};

/** Not by Prisma, which compiles a question when it is first asked, for a tenth of a second: this one comes first while a fleet connects or a call waits. */
const ALL = {
  name: 'all-policies',
  text: `SELECT pattern, idempotent, disruptive, read_only AS "readOnly", disconnect_expected AS "disconnectExpected", verification, readback, failure_text AS "failureText",
           call_timeout_ms AS "callTimeoutMs" FROM tool_policy ORDER BY pattern`,
  timeoutMs: QUESTION_TIMEOUT_MS,
};

type PolicyRecord = Omit<ToolPolicy, 'readback' | 'failureText' | 'readOnly'> & {
  readonly readback: unknown;
  readonly failureText: string | null;
  readonly readOnly: boolean | null;
};

export class PgToolPolicyStore implements ToolPolicyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async all(): Promise<readonly ToolPolicy[]> {
    const policies = await this.#database.query<PolicyRecord>(ALL, []);
    return policies.map((policy) => ({
      ...policy,
      readback: readback.parse(policy.readback) ?? undefined,
      failureText: policy.failureText ?? undefined,
      readOnly: policy.readOnly ?? undefined,
    }));
  }

  set(policy: ToolPolicy, { policiesMax, at, by }: Parameters<ToolPolicyStore['set']>[1]): Promise<boolean> {
    const { pattern, idempotent, disruptive, disconnectExpected, verification, failureText, callTimeoutMs, readOnly } =
      policy;
    const says = policy.readback === undefined ? null : JSON.stringify(policy.readback);
    return audited(
      this.#database,
      by,
      async (transaction) => {
        const values = [
          storableText(pattern),
          idempotent,
          disruptive,
          disconnectExpected,
          verification,
          says,
          failureText,
          callTimeoutMs,
          readOnly,
        ];
        return (await transaction.query(SET, [...values, policiesMax])).length > 0;
      },
      (isSet) => (isSet ? [{ action: 'policy.set', subject: `policy:${pattern}`, data: { ...policy }, at }] : []),
    );
  }

  remove(pattern: string, { at, by }: Parameters<ToolPolicyStore['remove']>[1]): Promise<boolean> {
    return audited(
      this.#database,
      by,
      async (transaction) => {
        const removed = await transaction.query(
          { text: 'DELETE FROM tool_policy WHERE pattern = $1 RETURNING pattern' },
          [storableText(pattern)],
        );
        return removed.length > 0;
      },
      (isRemoved) => (isRemoved ? [{ action: 'policy.deleted', subject: `policy:${pattern}`, data: {}, at }] : []),
    );
  }
}
