/** The operator's table of tools. Which policy a tool has is decided by who asks. */
import type { ToolPolicy } from '@flotilla/jobs';
import { z } from 'zod';
import type { Database } from './database/database.js';
import type { ToolPolicyStore } from './registry.js';

const readback = z.object({ tool: z.string(), path: z.string(), argument: z.string() }).nullable();

export class PgToolPolicyStore implements ToolPolicyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async all(): Promise<readonly ToolPolicy[]> {
    const policies = await this.#database.ask((prisma) => prisma.toolPolicy.findMany({ orderBy: { pattern: 'asc' } }));
    return policies.map((policy) => ({
      ...policy,
      readback: readback.parse(policy.readback) ?? undefined,
      failureText: policy.failureText ?? undefined,
    }));
  }
}
