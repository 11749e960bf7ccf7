import type pg from 'pg';
import type { AuditKey } from '../audit/audit-key.js';
import type { Queryable } from './database.js';

/** One connection as a Queryable. Errors of PostgreSQL pass unchanged. */
export function queryableOf(client: pg.ClientBase, auditKey?: AuditKey): Queryable {
  return {
    auditKey,
    query: async <Row extends pg.QueryResultRow>(statement: { readonly text: string }, values: unknown[]) =>
      (await client.query<Row>({ ...statement, values })).rows,
  };
}
